import { LockMode, type EntityName, type FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  Account,
  ApiKey,
  AuthorizationRequest,
  Invitation,
  Membership,
  OAuthClient,
  OAuthGrant,
  OAuthTokenFamily,
  OperatorKey,
  Session,
  Team,
  WebhookEndpoint,
} from '../entities/index.ts';

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

const ENTITIES = {
  operator_key: OperatorKey,
  authorization_request: AuthorizationRequest,
  team: Team,
  account: Account,
  session: Session,
  invitation: Invitation,
  membership: Membership,
  oauth_client: OAuthClient,
  oauth_grant: OAuthGrant,
  oauth_token_family: OAuthTokenFamily,
  api_key: ApiKey,
  webhook_endpoint: WebhookEndpoint,
} as const satisfies Record<LockTable, unknown>;

type Row<Table extends LockTable> = InstanceType<(typeof ENTITIES)[Table]>;

const MODES = { update: LockMode.PESSIMISTIC_WRITE, share: LockMode.PESSIMISTIC_READ } as const;

/** `update` excludes every other lock; `share` allows other shared locks and no change. */
export type RowLock = keyof typeof MODES;

/** A transaction locked a table after one that `LOCK_ORDER` lists later. */
export class LockOrderError extends Error {
  override readonly name = 'LockOrderError';
}

/** The locks of an open transaction: the rows by table, and the highest rank. */
type Held = { rank: number; readonly rows: Map<LockTable, Set<string>> };

const held = new WeakMap<EntityManager, Held>();

/**
 * Runs a statement that locks rows. Rows that the transaction already holds can be locked again in any order, because
 * that never waits.
 * @param ids returns the ids of the rows that the statement locked
 * @throws LockOrderError outside of production if the statement violates LOCK_ORDER
 */
async function lockInOrder<R>(
  tx: EntityManager,
  table: LockTable,
  lock: () => Promise<R>,
  ids: (result: R) => readonly string[],
): Promise<R> {
  if (process.env['NODE_ENV'] === 'production') return lock();
  const { rank: highest, rows } = held.get(tx) ?? { rank: 0, rows: new Map<LockTable, Set<string>>() };
  const rank = LOCK_ORDER.indexOf(table);
  const known = rows.get(table);
  const violation = new LockOrderError(`${table} must be locked before ${LOCK_ORDER[highest]}.`);
  if (rank < highest && known === undefined) throw violation;
  const result = await lock();
  const locked = ids(result);
  if (rank < highest && !locked.every((id) => known?.has(id))) throw violation;
  rows.set(table, new Set([...(known ?? []), ...locked]));
  held.set(tx, { rank: Math.max(rank, highest), rows });
  return result;
}

/** Locks one row until the transaction ends. @returns the row as it is under the lock; null if it does not exist */
export async function lockOne<Table extends LockTable>(
  tx: EntityManager,
  table: Table,
  id: string,
  mode: RowLock = 'update',
): Promise<Row<Table> | null> {
  const [row] = await lockMany(tx, table, { id } as FilterQuery<Row<Table>>, mode);
  return row ?? null;
}

/** Locks all rows that match, in the order of their primary keys. @returns them as they are under the locks */
export async function lockMany<Table extends LockTable>(
  tx: EntityManager,
  table: Table,
  where: FilterQuery<Row<Table>>,
  mode: RowLock = 'update',
): Promise<Row<Table>[]> {
  const entity: EntityName<Row<Table>> = ENTITIES[table] as never; // TypeScript cannot infer it from `Table`
  const key = table === 'authorization_request' ? 'idHash' : 'id';
  const find = () =>
    tx.find(entity, where, { lockMode: MODES[mode], orderBy: { [key]: 'asc' } as never, refresh: true });
  const rows = await lockInOrder(tx, table, find, (found) => found.map((row) => String((row as { id?: string }).id)));
  return rows as Row<Table>[];
}

/**
 * Locks the rows that a statement selects `for update`, in the order of their primary keys. For rows of which there
 * can be thousands, because it loads only the columns that are named.
 */
export const lockRows = <Columns extends { readonly id: string }>(
  tx: EntityManager,
  table: Exclude<LockTable, 'authorization_request'>,
  sql: string,
  values: readonly unknown[],
): Promise<Columns[]> =>
  lockInOrder(
    tx,
    table,
    () => tx.execute<Columns[]>(`${sql} order by id for update`, values),
    (rows) => rows.map(({ id }) => id),
  );

/**
 * Prevents the deletion of rows until the transaction ends. Other transactions can still change them.
 * @returns the ids of the rows that exist
 */
export async function lockShared(
  tx: EntityManager,
  table: Exclude<LockTable, 'authorization_request'>,
  ids: readonly string[],
): Promise<string[]> {
  const sql = `select id from ${table} where id = any(string_to_array(?, ' ')) order by id for key share`;
  const lock = async () => (await tx.execute<{ id: string }[]>(sql, [ids.join(' ')])).map(({ id }) => id);
  return lockInOrder(tx, table, lock, (found) => found);
}
