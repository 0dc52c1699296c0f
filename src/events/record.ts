import type { EntityManager } from '@mikro-orm/postgresql';
import { afterCommit } from '../db/after-commit.ts';
import type { Database } from '../db/database.ts';
import { command, type Command } from '../db/query.ts';
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
  tx.create(AuditEvent, toEvent(event, fields));
  const { audit } = currentActor();
  afterCommit(tx, () => audit(event, fields));
}

/** A command that inserts its event in the same SQL statement. Only `runAndRecord` runs it. */
export type RecordedCommand<Row> = { readonly event: EventName; readonly command: Command<Row> };

/**
 * Declares a command that records an event. The event is inserted if `change` returns a row.
 * @param change an insert, update or delete that ends in `returning`
 */
export function recordedCommand<Row>(name: string, change: string, event: EventName): RecordedCommand<Row> {
  const last = 1 + Math.max(...[...change.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const text = `with changed as (${change}), recorded as (
       insert into audit_event
       select event.* from changed, jsonb_populate_record(null::audit_event, $${last}::jsonb) event
       limit 1)
     select * from changed`;
  return { event, command: command(name, text) };
}

/** Runs a command with its event. @returns the rows that it changed */
export async function runAndRecord<Row extends object>(
  db: Pick<Database, 'run'>,
  { event, command: changing }: RecordedCommand<Row>,
  values: readonly unknown[],
  fields: EventFields,
): Promise<Row[]> {
  const rows = await db.run(changing, [...values, JSON.stringify(toRow(toEvent(event, fields)))]);
  if (rows.length > 0) currentActor().audit(event, fields);
  return rows;
}

const insertEvents = command<never>(
  'insert_audit_events',
  'insert into audit_event select * from jsonb_populate_recordset(null::audit_event, $1::jsonb)',
);

/** Records an event outside of a transaction, for what changes nothing else, such as an operator’s look-up. */
export async function recordNow(db: Database, event: EventName, fields: EventFields): Promise<void> {
  await insertRows(db, [toEvent(event, fields)]);
  currentActor().audit(event, fields);
}

/** Inserts events that were collected outside of any call. */
export const insertRows = async (db: Database, events: readonly NewEvent[]): Promise<void> =>
  void (await db.run(insertEvents, [JSON.stringify(events.map(toRow))]));

export type NewEvent = ReturnType<typeof toEvent>;

/** An event of the call that is under way. */
export function toEvent(event: EventName, fields: EventFields) {
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
const toRow = ({
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
