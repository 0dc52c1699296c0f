import { Text } from '@mantine/core';
import { useDates } from '../../../components/dates.ts';
import { TextLink } from '../../../components/links.tsx';
import type { Column } from '../../../components/table/column.ts';
import { auditTexts as words } from '../../../messages/audit.ts';
import { useTeam } from '../team.ts';
import { describeEvent, EventCell } from './event-cell.tsx';
import type { AuditEvent } from './event.ts';
import { Name } from '../../../components/name.tsx';

/** The columns of the audit log. Its export is that of the whole log. */
export const auditColumns: readonly Column<AuditEvent>[] = [
  { id: 'event', title: words.event, value: describeEvent, cell: (event) => <EventCell event={event} /> },
  {
    id: 'time',
    title: words.time,
    value: ({ occurredAt }) => occurredAt,
    cell: ({ occurredAt }) => <Time at={occurredAt} />,
    width: '11%',
  },
  {
    id: 'access',
    title: words.access,
    value: ({ credentialName }) => credentialName,
    cell: (event) => <Access event={event} />,
    width: '18%',
  },
  {
    id: 'ip',
    title: words.address,
    value: ({ address }) => address,
    cell: ({ address }) => address !== null && <FilterLink name="address" value={address} text={address} />,
    width: '15%',
    isLabelled: true,
  },
  requestColumn('request', words.requestColumn, ({ requestId }) => requestId),
  requestColumn('clientRequest', words.clientRequestColumn, ({ clientRequestId }) => clientRequestId),
];

function requestColumn(id: string, title: string, value: (event: AuditEvent) => string | null): Column<AuditEvent> {
  const cell = (event: AuditEvent) =>
    value(event) !== null && (
      <Text size="xs" c="dimmed" className="wrap">
        <Name>{value(event)}</Name>
      </Text>
    );
  return { id, title, value, cell, width: '17%', isLabelled: true, isHiddenByDefault: true };
}

/** The time of day: rows are grouped by day. */
function Time({ at }: { readonly at: string }) {
  const { time } = useDates();
  return (
    <Text size="sm" component="time" dateTime={at}>
      {time(at)}
    </Text>
  );
}

/** The key or app that was used, if the event was not caused in the console. */
function Access({ event: { actorKind, credentialName, keyId } }: { readonly event: AuditEvent }) {
  if (credentialName !== null) return <FilterLink name="key" value={keyId} text={words.withKey(credentialName)} />;
  return actorKind === 'oauth_grant' ? <Text size="sm">{words.withApplication}</Text> : null;
}

type FilterLinkProps = { readonly name: 'key' | 'address'; readonly value: string | null; readonly text: string };

/** Shows only events with the same key or address. */
function FilterLink({ name, value, text }: FilterLinkProps) {
  const { team } = useTeam();
  if (value === null)
    return (
      <Text size="sm" className="wrap">
        {text}
      </Text>
    );
  return (
    <TextLink
      to="/teams/$teamId/audit"
      params={{ teamId: team.slug }}
      search={(previous) => ({ ...previous, [name]: value })}
      size="sm"
      className="wrap"
    >
      <bdi>{text}</bdi>
    </TextLink>
  );
}
