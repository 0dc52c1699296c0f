import { Code, Text } from '@mantine/core';
import { useDates } from '../../components/dates.ts';
import { TextLink } from '../../components/links.tsx';
import type { Column } from '../../components/table/column.ts';
import { operatorAuditTexts as words } from '../../messages/operator-audit.ts';
import type { Outputs } from '../../trpc.ts';
import { Name } from '../../components/name.tsx';
import { neutralize, toReadableJson } from '../../../messages/neutralize.ts';

export type OperatorEvent = Outputs['operator']['audit']['events'][number];

const getActor = ({ actor }: OperatorEvent): string =>
  neutralize(actor.account?.name ?? actor.account?.id ?? words.kinds[actor.kind]);

const plain = (id: string, title: string, value: (event: OperatorEvent) => string | number | null) => ({
  id,
  title,
  value,
  cell: () => null,
  isExportOnly: true,
});

/** The columns of the audit log, and of its export. */
export const auditColumns: readonly Column<OperatorEvent>[] = [
  { id: 'event', title: words.event, value: ({ event }) => event, cell: (event) => <What event={event} /> },
  {
    id: 'time',
    title: words.time,
    value: ({ occurredAt }) => occurredAt,
    cell: ({ occurredAt }) => <Time at={occurredAt} />,
    width: '16%',
  },
  { id: 'actor', title: words.actor, value: getActor, cell: (event) => <Actor event={event} />, width: '22%' },
  plain('actorId', words.filters.actorId, ({ actor }) => actor.account?.id ?? null),
  {
    id: 'about',
    title: words.aboutColumn,
    value: ({ account, team, target }) => [account?.id, team?.id, target?.id].filter(Boolean).join(' '),
    cell: (event) => <About event={event} />,
    width: '24%',
  },
  {
    id: 'address',
    title: words.addressColumn,
    value: ({ actor }) => actor.address,
    cell: ({ actor }) => (
      <Text size="sm" className="wrap">
        <Name>{actor.address}</Name>
      </Text>
    ),
    width: '13%',
  },
  plain('request', words.requestId, ({ requestId }) => requestId),
  plain('count', words.count, ({ count }) => count),
  plain('details', words.details, ({ details }) => JSON.stringify(details)),
  plain('clientRequest', words.clientRequestId, ({ clientRequestId }) => clientRequestId),
];

type CellProps = { readonly event: OperatorEvent };

function Time({ at }: { readonly at: string }) {
  const { minute } = useDates();
  return (
    <Text size="sm" component="time" dateTime={at}>
      {minute(at)}
    </Text>
  );
}

function What({ event: { event, requestId, clientRequestId, count, details } }: CellProps) {
  const facts = [
    requestId !== null && words.request(requestId),
    clientRequestId !== null && words.clientRequest(clientRequestId),
    count > 1 && words.times(count),
  ];
  return (
    <>
      <Text fw={600} size="sm" className="wrap">
        {event}
      </Text>
      <Text size="xs" c="dimmed" className="wrap">
        {facts.filter(Boolean).join(' · ')}
      </Text>
      {Object.keys(details).length > 0 && (
        <details className="operator-details">
          <summary>{words.details}</summary>
          <Code block className="operator-reason">
            {toReadableJson(JSON.stringify(details, null, 2))}
          </Code>
        </details>
      )}
    </>
  );
}

const Actor = ({ event }: CellProps) => {
  const { account } = event.actor;
  return (
    <>
      {account === null ? (
        <Text size="sm" className="wrap">
          {getActor(event)}
        </Text>
      ) : (
        <AccountLink account={account} />
      )}
      {event.credential !== null && (
        <Text size="xs" c="dimmed" className="wrap">
          {words.key(event.credential.name ?? event.credential.id)}
        </Text>
      )}
    </>
  );
};

const About = ({ event: { actor, account, team, target } }: CellProps) => (
  <div className="operator-about">
    {account !== null && account.id !== actor.account?.id && <AccountLink account={account} />}
    {team !== null && (
      <TextLink to="/operator/teams/$teamId" params={{ teamId: team.id }} preload={false} size="sm" className="wrap">
        {words.team(team.name ?? team.id)}
      </TextLink>
    )}
    {target !== null && target.id !== account?.id && target.id !== team?.id && (
      <Text size="xs" c="dimmed" className="wrap">
        {target.id}
      </Text>
    )}
  </div>
);

type AccountLinkProps = { readonly account: NonNullable<OperatorEvent['account']> };

const AccountLink = ({ account: { id, name } }: AccountLinkProps) => (
  <TextLink to="/operator/accounts/$accountId" params={{ accountId: id }} preload={false} size="sm" className="wrap">
    <Name>{name ?? id}</Name>
  </TextLink>
);
