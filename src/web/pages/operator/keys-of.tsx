import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Confirmation } from '../../components/confirmation.tsx';
import { TextLink } from '../../components/links.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Page } from '../../components/page.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { useRowDialogs } from '../../components/table/row-dialogs.ts';
import { query, trpc } from '../../trpc.ts';
import { listedKeyColumns, ListedKeyMenu, operatorKeyRevocation, type ListedKey } from './key-columns.tsx';
import { ListTable } from './list.tsx';
import { Operators, VIEW } from './operators.tsx';

const words = areaTexts.keys;
const accountRoute = getRouteApi('/console/operator/accounts/$accountId/keys');
const teamRoute = getRouteApi('/console/operator/teams/$teamId/keys');

const rowId = ({ id }: ListedKey): string => id;
const rowName = ({ name }: ListedKey): string => name;

/** The API keys of an account, with those that it made for teams. */
export function OperatorAccountKeysPage() {
  const { accountId } = accountRoute.useParams();
  const { cursor } = accountRoute.useSearch();
  return (
    <Operators>
      <div className="operator-back">
        <TextLink to="/operator/accounts/$accountId" params={{ accountId }} preload={false}>
          {words.backToAccount}
        </TextLink>
      </div>
      <Keys of="account" id={accountId} cursor={cursor} />
    </Operators>
  );
}

/** The API keys of a team. */
export function OperatorTeamKeysPage() {
  const { teamId } = teamRoute.useParams();
  const { cursor } = teamRoute.useSearch();
  return (
    <Operators>
      <div className="operator-back">
        <TextLink to="/operator/teams/$teamId" params={{ teamId }} preload={false}>
          {areaTexts.members.back}
        </TextLink>
      </div>
      <Keys of="team" id={teamId} cursor={cursor} />
    </Operators>
  );
}

type KeysProps = {
  readonly of: 'account' | 'team';
  readonly id: string;
  readonly cursor: string | undefined;
};

function Keys({ of, id, cursor }: KeysProps) {
  const page = useQuery({ ...query('operator.keys', { of, id, ...(cursor !== undefined && { cursor }) }), ...VIEW });
  const title = of === 'account' ? words.ofAccount : words.ofTeam;
  const { refetch: reread } = page;
  const notify = useNotice();
  const { asked, ask, close } = useRowDialogs<ListedKey, 'revoke'>(rowId);
  return (
    <Page isWide title={title} explanation={words.explanation}>
      <ListTable
        label={title}
        page={page}
        items={({ keys }) => keys}
        columns={listedKeyColumns}
        rowId={rowId}
        rowName={rowName}
        bulk={[operatorKeyRevocation]}
        actions={(key) => <ListedKeyMenu apiKey={key} onRevoke={() => ask('revoke', key)} />}
        empty={{ title: areaTexts.list.emptyTitle, description: areaTexts.list.empty }}
        cursor={cursor}
        next={page.data?.nextCursor}
      />
      {asked && (
        <Confirmation
          title={words.revokeTitle(asked.row.name)}
          explanation={words.revokeExplanation}
          submit={words.revoke}
          call={() => trpc.operator.revokeKey.mutate({ keyId: asked.row.id })}
          onSuccess={() => {
            close();
            notify(words.revoked);
            void reread();
          }}
          onError={() => void reread()}
          onClose={close}
        />
      )}
    </Page>
  );
}
