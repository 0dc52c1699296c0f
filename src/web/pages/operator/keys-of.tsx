import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { TextLink } from '../../components/links.tsx';
import { Page } from '../../components/page.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { query } from '../../trpc.ts';
import { listedKeyColumns, operatorKeyRevocation, type ListedKey } from './key-columns.tsx';
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
  const { refetch } = page;
  const columns = useMemo(() => listedKeyColumns(refetch), [refetch]);
  return (
    <Page isWide title={title} explanation={words.explanation}>
      <ListTable
        label={title}
        page={page}
        items={({ keys }) => keys}
        columns={columns}
        rowId={rowId}
        rowName={rowName}
        bulk={[operatorKeyRevocation]}
        empty={{ title: areaTexts.list.emptyTitle, description: areaTexts.list.empty }}
        cursor={cursor}
        next={page.data?.nextCursor}
      />
    </Page>
  );
}
