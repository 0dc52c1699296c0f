import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../db/database.ts';
import type { OpenTransaction } from '../db/pipeline/open-transaction.ts';
import { command, type Command } from '../db/query.ts';
import { newId } from '../entities/index.ts';
import type { EventFields } from './event.ts';
import { EVENTS, type EventName } from './catalogue.ts';
import type { EventDefinition } from './definition.ts';
import { currentActor } from './actor.ts';
import { COLUMNS, EVENT_COLUMNS, PROPERTIES } from './chain/event-columns.ts';
import { createMac } from './chain/event-mac.ts';
import { emitRecorded } from './wake.ts';

const DETAILS_LENGTH_MAX = 2000;

/** Records one event with the next statements, or one for each of a list, in bounded statements. It is logged after the commit. */
export type RecordEvents = {
  (event: EventName, each: readonly EventFields[]): Promise<void>;
  /** `more` only excludes a spread list, of which TypeScript would ignore all but the first. */
  (event: EventName, fields?: EventFields, ...more: readonly never[]): void;
};

/** Returns what records events in an open transaction. */
export const createRecorder = (open: OpenTransaction): RecordEvents =>
  ((event: EventName, fields?: EventFields | readonly EventFields[]) =>
    isList(fields) ? recordEach(open, event, fields) : recordOne(open, event, fields)) as RecordEvents; // by the fields

const isList = (fields: EventFields | readonly EventFields[] | undefined): fields is readonly EventFields[] =>
  Array.isArray(fields);

function recordOne(open: OpenTransaction, event: EventName, fields: EventFields = {}): void {
  open.later([insertEvent, toParameters(open, toEvent(event, fields))]);
  open.onCommit(createReport(open.orm.em, event, [fields]));
}

/** Sends chunk by chunk, so that other requests have their turn between. The last one is sent with the next statements. */
async function recordEach(open: OpenTransaction, event: EventName, changes: readonly EventFields[]): Promise<void> {
  for (const [index, chunk] of chunksOf(changes).entries()) {
    if (index > 0) await open.run([]);
    open.later([insertEvents, [JSON.stringify(chunk.map((fields) => toRow(open, toEvent(event, fields))))]]);
  }
  if (changes.length > 0) open.onCommit(createReport(open.orm.em, event, changes));
}

const ROW = [...COLUMNS, 'mac'].join(', ');

/** The types of parameters that are not text. */
const TYPES: Readonly<Record<string, string>> = {
  occurred_at: 'timestamptz',
  details: 'jsonb',
  count: 'int',
  mac: 'bytea',
};

/** So few that making and logging them delays other requests by a few milliseconds. */
const RECORDED_AT_ONCE = 200;

/** A command that inserts its event in the same SQL statement. Only `runAndRecord` runs it. */
export type RecordedCommand<Row> = { readonly event: EventName; readonly command: Command<Row> };

type MaybeChanged = { readonly is_changed?: boolean };

/**
 * Declares a command that records an event. The event is inserted if `change` returns a row, unless the row says with
 * `is_changed: false` that everything was as it is.
 * @param change an insert, update or delete that ends in `returning`
 */
export function recordedCommand<Row>(name: string, change: string, event: EventName): RecordedCommand<Row> {
  const first = 1 + Math.max(...[...change.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const values = [...COLUMNS, 'mac'].map((column, i) => `$${first + i}::${TYPES[column] ?? 'text'}`);
  const text = `with changed as (${change}), recorded as (
       insert into audit_event (${ROW}) select ${values.join(', ')} from changed${change.trim().endsWith(' as is_changed') ? ' where is_changed' : ''} limit 1)
     select * from changed`;
  return { event, command: command(name, text) };
}

/** Runs a command with its event. @returns the rows that it changed */
export async function runAndRecord<Row extends object>(
  db: Pick<Database, 'run' | 'orm' | 'onCommit'>,
  { event, command: changing }: RecordedCommand<Row>,
  values: readonly unknown[],
  fields: EventFields,
): Promise<Row[]> {
  const rows = await db.run(changing, [...values, ...toParameters(db, toEvent(event, fields))]);
  const [first] = rows as readonly MaybeChanged[];
  if (first !== undefined && first.is_changed !== false) db.onCommit(createReport(db.orm.em, event, [fields]));
  return rows;
}

const insertEvents = command<never>(
  'audit_event_insert_many',
  `insert into audit_event (${ROW}) select ${ROW} from jsonb_populate_recordset(null::audit_event, $1::jsonb)`,
);

const insertEvent = command<never>(
  'audit_event_insert',
  `insert into audit_event (${ROW})
   values (${[...COLUMNS, 'mac'].map((column, i) => `$${i + 1}::${TYPES[column] ?? 'text'}`).join(', ')})`,
);

/** Returns what logs and announces events of the current actor. */
function createReport(em: EntityManager, event: EventName, changes: readonly EventFields[]): () => void {
  const { audit } = currentActor();
  const report = async (): Promise<void> => {
    for (const [index, chunk] of chunksOf(changes).entries()) {
      if (index > 0) await nextTurn();
      for (const fields of chunk) audit(event, fields);
    }
  };
  return () => {
    void report();
    emitRecorded(em);
  };
}

const chunksOf = (changes: readonly EventFields[]): (readonly EventFields[])[] =>
  Array.from({ length: Math.ceil(changes.length / RECORDED_AT_ONCE) }, (_, i) =>
    changes.slice(i * RECORDED_AT_ONCE, (i + 1) * RECORDED_AT_ONCE),
  );

/** Inserts events that were collected outside of a call. */
export async function insertCollected(db: Database, events: readonly NewEvent[]): Promise<void> {
  await db.run(insertEvents, [JSON.stringify(events.map((event) => toRow(db, event)))]);
  emitRecorded(db.orm.em);
}

export type NewEvent = ReturnType<typeof toEvent>;

/** Returns an event of the current actor. */
export function toEvent(event: EventName, fields: EventFields = {}) {
  const { actorKind, actorId, credentialId, clientId: actingClientId = null, ...call } = currentActor();
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
    metadataOf,
    templateId,
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
    targetId:
      keyId ??
      roleId ??
      invitationId ??
      sessionId ??
      passkeyId ??
      endpointId ??
      importId ??
      metadataOf ??
      templateId ??
      grantId ??
      null,
    address: call.address,
    requestId: call.requestId,
    clientRequestId: call.clientRequestId,
    details: limitDetails(namesRole(event) ? { roleId, ...rest } : rest),
    count: 1,
  };
}

/** Whether the role is not what the event is about, but what a member has from then on. */
const namesRole = (event: EventName): boolean => {
  const { details }: EventDefinition = EVENTS[event];
  return details.includes('roleId');
};

const lengthOf = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length);

/** Replaces the longest details by their names, if all together are too long to keep. */
function limitDetails(details: Record<string, unknown>): Record<string, unknown> {
  if (lengthOf(details) <= DETAILS_LENGTH_MAX) return details;
  const kept = new Map(Object.entries(details).toSorted(([, a], [, b]) => lengthOf(b) - lengthOf(a)));
  const leftOut: string[] = [];
  const limited = () => ({ ...Object.fromEntries(kept), ...(leftOut.length > 0 && { leftOut }) });
  for (const name of kept.keys()) {
    if (lengthOf(limited()) <= DETAILS_LENGTH_MAX) break;
    kept.delete(name);
    leftOut.push(name);
  }
  return limited();
}

/**
 * Moves the client's id of the request into the details, because a column of its own would not be in the MAC and hash
 * that every version computes. `splitDetails` takes it out again.
 */
function toStored({ clientRequestId, ...event }: NewEvent) {
  return clientRequestId === null ? event : { ...event, details: { ...event.details, clientRequestId } };
}

/** Converts an event to the columns of its table, with its MAC. */
function toRow(db: { readonly orm: { readonly em: EntityManager } }, created: NewEvent): Record<string, unknown> {
  const event = toStored(created);
  const columns = PROPERTIES.map((property) => [EVENT_COLUMNS[property], event[property]] as const);
  return { ...Object.fromEntries(columns), mac: `\\x${createMac(db.orm.em, event).toString('hex')}` };
}

/** Converts an event to the parameters of a recorded command. */
function toParameters(db: { readonly orm: { readonly em: EntityManager } }, created: NewEvent): unknown[] {
  const event = toStored(created);
  const values = PROPERTIES.map((property) => {
    const value = event[property];
    if (value instanceof Date) return value.toISOString();
    return property === 'details' ? JSON.stringify(value) : value;
  });
  return [...values, createMac(db.orm.em, event)];
}
