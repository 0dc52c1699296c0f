import { Code, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { Confirmation } from '../../components/confirmation.tsx';
import { useDates } from '../../components/dates.ts';
import { TextLink } from '../../components/links.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Page } from '../../components/page.tsx';
import { RowButton } from '../../components/row-button.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, trpc, type Outputs } from '../../trpc.ts';
import { getAccountName } from './account-name.ts';
import { List, Pager } from './list.tsx';
import { Operators, VIEW } from './operators.tsx';

const words = areaTexts.keys;
const accountRoute = getRouteApi('/console/operator/accounts/$accountId/keys');
const teamRoute = getRouteApi('/console/operator/teams/$teamId/keys');

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
  return (
    <Page title={title} explanation={words.explanation}>
      <List
        label={title}
        page={page}
        items={({ keys }) => keys}
        row={(key) => <KeyRow key={key.id} apiKey={key} reread={page.refetch} />}
        empty={{ title: areaTexts.list.emptyTitle, description: areaTexts.list.empty }}
      />
      <Pager cursor={cursor} next={page.data?.nextCursor} />
    </Page>
  );
}

type KeyRowProps = {
  readonly apiKey: Outputs['operator']['keys']['keys'][number];
  readonly reread: () => Promise<unknown>;
};

function KeyRow({ apiKey, reread }: KeyRowProps) {
  const { day, minute } = useDates();
  const notify = useNotice();
  const [revoking, setRevoking] = useState(false);
  const { id, name, keyPrefix, last4, team, account, createdAt, lastUsedAt, expiresAt, scopes } = apiKey;
  const facts = [
    words.by(getAccountName(account)),
    team === null ? words.personal : words.team(team.name),
    words.created(day(createdAt)),
    lastUsedAt === null ? words.unused : words.used(minute(lastUsedAt)),
    expiresAt && words.expires(day(expiresAt)),
  ];
  return (
    <li className="row">
      <div className="row-text">
        <Text fw={600} className="wrap">
          <bdi>{name}</bdi>
        </Text>
        <Code>{`${keyPrefix}…${last4}`}</Code>
        <Text size="sm" c="dimmed" className="wrap">
          {facts.filter(Boolean).join(', ')}
        </Text>
        <Text size="sm" c="dimmed" className="wrap">
          {scopes.join(' ')}
        </Text>
      </div>
      <RowButton color="red" onClick={() => setRevoking(true)} aria-label={words.revokeOf(name)}>
        {words.revoke}
      </RowButton>
      {revoking && (
        <Confirmation
          title={words.revokeTitle(name)}
          explanation={words.revokeExplanation}
          submit={words.revoke}
          call={() => trpc.operator.revokeKey.mutate({ keyId: id })}
          onSuccess={() => {
            setRevoking(false);
            notify(words.revoked);
            void reread();
          }}
          onError={() => void reread()}
          onClose={() => setRevoking(false)}
        />
      )}
    </li>
  );
}
