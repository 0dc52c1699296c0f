import type { OpenSteps, OpenTransaction } from '../db/pipeline/open-transaction.ts';
import { command, type Command } from '../db/query.ts';

/**
 * The order in which a transaction locks rows, table by table; rows of one table are locked in the order of
 * their primary keys. Transactions that follow it cannot deadlock.
 */
export const LOCK_ORDER = [
  'operator_key',
  'authorization_request',
  'team',
  'account',
  'session',
  'invitation',
  'membership',
  'oauth_client',
  'oauth_grant',
  'oauth_token_family',
  'api_key',
  'webhook_endpoint',
] as const;

export type LockTable = (typeof LOCK_ORDER)[number];

/** A transaction locked a table after one that `LOCK_ORDER` lists later. */
export class LockOrderError extends Error {
  override readonly name = 'LockOrderError';
}

/** The locks of an open transaction: the rows by table, and the highest rank. */
export type Held = { rank: number; readonly rows: Map<LockTable, Set<string>> };

const locks = new WeakMap<OpenTransaction, Held>();

/** Returns the locks that an open transaction holds. */
export function heldBy(open: OpenTransaction): Held {
  const held = locks.get(open) ?? { rank: 0, rows: new Map<LockTable, Set<string>>() };
  locks.set(open, held);
  return held;
}

const tables = new WeakMap<object, LockTable>();

/** Declares a statement that locks rows of a table, and returns their ids. */
export function lock<Row extends { readonly id: string }>(table: LockTable, name: string, text: string): Command<Row> {
  const declared = command<Row>(name, text);
  tables.set(declared, table);
  return declared;
}

/**
 * Declares a lock of all rows that a statement selects, in the order of their primary keys, however many there are: it
 * reads only the columns that it names.
 */
export const lockRows = <Row extends { readonly id: string } = { id: string }>(
  table: LockTable,
  name: string,
  select: string,
) => lock<Row>(table, name, `${select} order by id for update`);

/** Declares a lock of rows by ids with spaces between, which prevents their deletion. Others can change them. */
export const keepRows = (table: LockTable) =>
  lock<{ id: string }>(
    table,
    `${table}_lock_shared_list`,
    `select id from ${table} where id = any(string_to_array($1, ' ')) order by id for key share`,
  );

/** Declares a lock that prevents every change of a row, and lets others hold it too. */
export const share = <Row extends { readonly id: string } = { id: string }>(
  table: LockTable,
  name: string,
  columns = 'id',
  which = 'id = $1',
) => lock<Row>(table, name, `select ${columns} from ${table} where ${which} for share`);

/**
 * Runs what locks rows of tables. Rows that the transaction already holds can be locked again in any order, because that
 * never waits.
 * @param ids returns the ids of the rows that were locked in a table
 * @throws LockOrderError outside of production if it violates LOCK_ORDER
 */
export async function lockInOrder<R>(
  held: Held,
  locked: readonly (LockTable | undefined)[],
  run: () => Promise<R>,
  ids: (result: R, index: number) => readonly string[],
): Promise<R> {
  if (process.env['NODE_ENV'] === 'production') return run();
  // All are sent at once, so each waits for its rows with those of the ones before.
  let highest = 0;
  for (const table of locked) {
    if (table === undefined) continue;
    // Rows of it can be locked already.
    const violation = (held.rows.has(table) ? undefined : violationOf(held.rank, table)) ?? violationOf(highest, table);
    if (violation !== undefined) throw violation;
    highest = LOCK_ORDER.indexOf(table);
  }
  const result = await run();
  for (const [index, table] of locked.entries()) if (table !== undefined) noteLocked(held, table, ids(result, index));
  return result;
}

/** Enforces LOCK_ORDER for declared locks, outside of production. @throws LockOrderError */
export const inLockOrder = (open: OpenTransaction): OpenSteps => ({
  later: open.later,
  run: (steps) =>
    lockInOrder(
      heldBy(open),
      steps.map(([statement]) => tables.get(statement)),
      () => open.run(steps),
      (results, index) => (results[index] as { id: string }[]).map(({ id }) => id), // as each lock returns
    ),
});

const violationOf = (rank: number, table: LockTable): LockOrderError | undefined =>
  LOCK_ORDER.indexOf(table) < rank
    ? new LockOrderError(`${table} must be locked before ${LOCK_ORDER[rank]}.`)
    : undefined;

/** Notes a row that the transaction inserts: nobody else can have locked it. */
export function noteCreated({ held: { rows } }: { readonly held: Held }, table: LockTable, id: string): void {
  if (process.env['NODE_ENV'] === 'production') return;
  rows.set(table, new Set([...(rows.get(table) ?? []), id]));
}

/** Notes the rows that were locked. @throws LockOrderError if one of them was not yet, and comes too late */
function noteLocked(held: Held, table: LockTable, ids: readonly string[]): void {
  const violation = violationOf(held.rank, table);
  const known = held.rows.get(table) ?? new Set<string>();
  if (violation !== undefined && !ids.every((id) => known.has(id))) throw violation;
  held.rows.set(table, new Set([...known, ...ids]));
  held.rank = Math.max(held.rank, LOCK_ORDER.indexOf(table));
}
