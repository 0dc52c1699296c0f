import type { EntityManager } from '@mikro-orm/postgresql';
import { afterCommit } from '../db/after-commit.ts';
import type { Database } from '../db/database.ts';
import { command, type Command, type Step } from '../db/query.ts';
import { AuditEvent, newId } from '../entities/index.ts';
import type { EventFields } from './event.ts';
import type { EventName } from './catalogue.ts';
import { currentActor } from './actor.ts';
import { COLUMNS, EVENT_COLUMNS, PROPERTIES } from './chain/event-columns.ts';
import { createMac } from './chain/event-mac.ts';
import { emitRecorded } from './wake.ts';

const DETAILS_LENGTH_MAX = 2000;

/**
 * Records an event in the transaction of the change. It is inserted with the next flush, at the latest with the
 * commit, and is logged afterwards.
 */
export function record(tx: EntityManager, event: EventName, fields: EventFields = {}): void {
  const row = toEvent(event, fields);
  tx.create(AuditEvent, { ...row, mac: createMac(tx, row) });
  afterCommit(tx, createReport(tx, event, [fields]));
}

const ROW = [...COLUMNS, 'mac'].join(', ');

/** The types of parameters that are not text. */
const TYPES: Readonly<Record<string, string>> = {
  occurred_at: 'timestamptz',
  details: 'jsonb',
  count: 'int',
  mac: 'bytea',
};

const RECORDED_AT_ONCE = 1000;

/**
 * Records one event for each of many changes like `record`. Inserts them at once and in bounded statements, because the
 * unit of work takes a hundred times as long for each.
 */
export async function recordMany(tx: EntityManager, event: EventName, changes: readonly EventFields[]): Promise<void> {
  if (changes.length === 0) return;
  for (const chunk of chunksOf(changes)) {
    const rows = chunk.map((fields) => toRow({ orm: { em: tx } }, toEvent(event, fields)));
    await tx.execute(insertEvents.text.replace('$1', '?'), [JSON.stringify(rows)]);
  }
  afterCommit(tx, createReport(tx, event, changes));
}

/** A command that inserts its event in the same SQL statement. Only `runAndRecord` runs it. */
export type RecordedCommand<Row> = { readonly event: EventName; readonly command: Command<Row> };

/**
 * Declares a command that records an event. The event is inserted if `change` returns a row.
 * @param change an insert, update or delete that ends in `returning`
 */
export function recordedCommand<Row>(name: string, change: string, event: EventName): RecordedCommand<Row> {
  const first = 1 + Math.max(...[...change.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const values = [...COLUMNS, 'mac'].map((column, i) => `$${first + i}::${TYPES[column] ?? 'text'}`);
  const text = `with changed as (${change}), recorded as (
       insert into audit_event (${ROW}) select ${values.join(', ')} from changed limit 1)
     select * from changed`;
  return { event, command: command(name, text) };
}

/** Runs a command with its event. @returns the rows that it changed */
export async function runAndRecord<Row extends object>(
  db: Pick<Database, 'run' | 'orm'>,
  { event, command: changing }: RecordedCommand<Row>,
  values: readonly unknown[],
  fields: EventFields,
): Promise<Row[]> {
  const rows = await db.run(changing, [...values, ...toParameters(db, toEvent(event, fields))]);
  if (rows.length > 0) {
    createReport(db.orm.em, event, [fields])();
  }
  return rows;
}

const insertEvents = command<never>(
  'insert_audit_events',
  `insert into audit_event (${ROW}) select ${ROW} from jsonb_populate_recordset(null::audit_event, $1::jsonb)`,
);

const insertEvent = command<never>(
  'insert_audit_event',
  `insert into audit_event (${ROW})
   values (${[...COLUMNS, 'mac'].map((column, i) => `$${i + 1}::${TYPES[column] ?? 'text'}`).join(', ')})`,
);

/** Returns the statements that insert an event for each of the changes, for a transaction of named statements. */
export function eventSteps(em: EntityManager, event: EventName, changes: readonly EventFields[]): Step[] {
  const db = { orm: { em } };
  const [only] = changes;
  if (only !== undefined && changes.length === 1) return [[insertEvent, toParameters(db, toEvent(event, only))]];
  return chunksOf(changes).map((chunk) => [
    insertEvents,
    [JSON.stringify(chunk.map((fields) => toRow(db, toEvent(event, fields))))],
  ]);
}

/** Returns what logs and announces events of the current actor. Call it after the commit. */
export function createReport(em: EntityManager, event: EventName, changes: readonly EventFields[]): () => void {
  const { audit } = currentActor();
  return () => {
    for (const fields of changes) audit(event, fields);
    emitRecorded(em);
  };
}

const chunksOf = (changes: readonly EventFields[]): (readonly EventFields[])[] =>
  Array.from({ length: Math.ceil(changes.length / RECORDED_AT_ONCE) }, (_, i) =>
    changes.slice(i * RECORDED_AT_ONCE, (i + 1) * RECORDED_AT_ONCE),
  );

/** Records an event outside of a transaction, for what changes nothing else, such as an operator’s look-up. */
export async function recordNow(db: Database, event: EventName, fields: EventFields): Promise<void> {
  await insertRows(db, [toEvent(event, fields)]);
  currentActor().audit(event, fields);
}

/** Inserts events that were collected outside of a call. */
export async function insertRows(db: Database, events: readonly NewEvent[]): Promise<void> {
  await db.run(insertEvents, [JSON.stringify(events.map((event) => toRow(db, event)))]);
  emitRecorded(db.orm.em);
}

export type NewEvent = ReturnType<typeof toEvent>;

/** Returns an event of the current actor. */
export function toEvent(event: EventName, fields: EventFields = {}) {
  const { actorKind, actorId, credentialId, clientId: actingClientId = null, address, requestId } = currentActor();
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
    endpointId,
    importId,
    ...rest
  } = fields;
  return {
    id: newId('evt'),
    occurredAt: new Date(),
    event,
    actorKind,
    actorId,
    credentialId,
    clientId: clientId ?? actingClientId,
    teamId: teamId ?? null,
    // The operator is not the subject of the change, and teams must not learn who it was.
    accountId: subjectId ?? accountId ?? (actorKind === 'operator_session' ? null : actorId),
    targetId: keyId ?? roleId ?? invitationId ?? sessionId ?? passkeyId ?? endpointId ?? importId ?? grantId ?? null,
    address,
    requestId,
    details: limitDetails(rest),
    count: 1,
  };
}

/** Replaces details that are too long to keep by their names. */
function limitDetails(details: Record<string, unknown>): Record<string, unknown> {
  return JSON.stringify(details).length <= DETAILS_LENGTH_MAX
    ? details
    : { leftOut: Object.keys(details).filter((name) => details[name] !== undefined) };
}

/** Converts an event to the columns of its table, with its MAC. */
function toRow(db: { readonly orm: { readonly em: EntityManager } }, event: NewEvent): Record<string, unknown> {
  const columns = PROPERTIES.map((property) => [EVENT_COLUMNS[property], event[property]] as const);
  return { ...Object.fromEntries(columns), mac: `\\x${createMac(db.orm.em, event).toString('hex')}` };
}

/** Converts an event to the parameters of a recorded command. */
const toParameters = (db: { readonly orm: { readonly em: EntityManager } }, event: NewEvent): unknown[] => [
  ...PROPERTIES.map((property) => {
    const value = event[property];
    if (value instanceof Date) return value.toISOString();
    return property === 'details' ? JSON.stringify(value) : value;
  }),
  createMac(db.orm.em, event),
];
