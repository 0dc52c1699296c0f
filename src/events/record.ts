import type { EntityManager } from '@mikro-orm/postgresql';
import { afterCommit } from '../db/after-commit.ts';
import { statement, type Read, type Statement } from '../db/query.ts';
import { AuditEvent, newId } from '../entities/index.ts';
import type { EventFields } from './event.ts';
import type { EventName } from './catalogue.ts';
import { currentActor } from './actor.ts';

const DETAILS_LENGTH_MAX = 2000;

/**
 * Records an event in the transaction that it tells of: its row is there with the change or not at all. It is
 * inserted with the next flush, the commit's at the latest, and goes to the log afterwards.
 */
export function record(tx: EntityManager, event: EventName, fields: EventFields = {}): void {
  tx.create(AuditEvent, eventOf(event, fields));
  const { audit } = currentActor();
  afterCommit(tx, () => audit(event, fields));
}

/**
 * Declares a statement that changes something and records that in one: its last value is the event, which is
 * inserted where `change`, which ends in `returning`, gives a row.
 * @param columns those of the change that are the event's own, such as the `team_id` that it is about
 */
export function recording<Row>(
  name: string,
  change: string,
  values: number,
  columns: readonly string[] = [],
): Statement<Row> {
  const known = columns.map((column) => `'${column}', changed.${column}`).join(', ');
  return statement(
    name,
    `with changed as (${change}), told as (
       insert into audit_event
       select told.* from changed,
         jsonb_populate_record(null::audit_event, $${values + 1}::jsonb || jsonb_build_object(${known})) told
       limit 1)
     select * from changed`,
  );
}

/** Runs a statement that records what it changes. */
export async function change<Row extends object>(
  read: Read,
  query: Statement<Row>,
  values: readonly unknown[],
  [event, fields]: readonly [EventName, EventFields],
): Promise<Row[]> {
  const rows = await read(query, [...values, JSON.stringify(rowOf(eventOf(event, fields)))]);
  const [row] = rows;
  if (row !== undefined) currentActor().audit(event, { ...fields, ...found(event, row) });
  return rows;
}

/** What the statement alone knew, by the names of the log. */
function found(event: EventName, row: object): EventFields {
  const { team_id: teamId, account_id: accountId, client_id: clientId, target_id: targetId } = row as FoundRow; // see `recording`
  return {
    ...(teamId !== undefined && { teamId }),
    ...(accountId !== undefined && { accountId }),
    ...(clientId !== undefined && { clientId }),
    ...(targetId !== undefined &&
      (event.startsWith('invitation') ? { invitationId: targetId } : { grantId: targetId })),
  };
}

type FoundRow = { team_id?: string | null; account_id?: string; client_id?: string; target_id?: string };

const insertEvents = statement<never>(
  'insert_audit_events',
  'insert into audit_event select * from jsonb_populate_recordset(null::audit_event, $1::jsonb)',
);

/** Records what changes nothing, such as that somebody looked at something. */
export async function recordNow(read: Read, event: EventName, fields: EventFields): Promise<void> {
  await insertRows(read, [eventOf(event, fields)]);
  currentActor().audit(event, fields);
}

/** Inserts events that have come together outside of any call. */
export const insertRows = async (read: Read, events: readonly NewEvent[]): Promise<void> =>
  void (await read(insertEvents, [JSON.stringify(events.map(rowOf))]));

export type NewEvent = ReturnType<typeof eventOf>;

/** An event of the call that is under way. */
export function eventOf(event: EventName, fields: EventFields) {
  const { actorKind, actorId, credentialId, address, requestId } = currentActor();
  const {
    accountId,
    subjectId,
    clientId,
    teamId,
    keyId,
    grantId,
    roleId,
    invitationId,
    sessionId,
    passkeyId,
    ...rest
  } = fields;
  return {
    id: newId('evt'),
    occurredAt: new Date(),
    event,
    actorKind,
    actorId,
    credentialId,
    clientId: clientId ?? null,
    teamId: teamId ?? null,
    accountId: subjectId ?? accountId ?? actorId,
    targetId: keyId ?? roleId ?? invitationId ?? sessionId ?? passkeyId ?? grantId ?? null,
    address,
    requestId,
    details: bounded(rest),
    count: 1,
  };
}

/** What is too long to keep for a year is left out, and said to be. */
function bounded(details: Record<string, unknown>): Record<string, unknown> {
  return JSON.stringify(details).length <= DETAILS_LENGTH_MAX
    ? details
    : { leftOut: Object.keys(details).filter((name) => details[name] !== undefined) };
}

/** By the columns of the table. */
const rowOf = ({
  occurredAt,
  actorKind,
  actorId,
  credentialId,
  clientId,
  teamId,
  accountId,
  targetId,
  requestId,
  ...same
}: NewEvent) => ({
  ...same,
  occurred_at: occurredAt,
  actor_kind: actorKind,
  actor_id: actorId,
  credential_id: credentialId,
  client_id: clientId,
  team_id: teamId,
  account_id: accountId,
  target_id: targetId,
  request_id: requestId,
});
