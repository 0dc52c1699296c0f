import { LockMode, type EntityName, type FilterQuery } from '@mikro-orm/core';
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
import { lockInOrder, type LockTable } from './lock-order.ts';
import { lockAccountsShared } from './lock-steps.ts';
import type { Change } from './steps.ts';

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

/** Locks one row until the transaction ends. @returns the row as it is under the lock; null if it does not exist */
export async function lockOne<Table extends LockTable>(
  tx: Change,
  table: Table,
  id: string,
  mode: RowLock = 'update',
): Promise<Row<Table> | null> {
  const [row] = await lockMany(tx, table, { id } as FilterQuery<Row<Table>>, mode);
  return row ?? null;
}

/** Locks all rows that match, in the order of their primary keys. @returns them as they are under the locks */
export async function lockMany<Table extends LockTable>(
  tx: Change,
  table: Table,
  where: FilterQuery<Row<Table>>,
  mode: RowLock = 'update',
): Promise<Row<Table>[]> {
  const entity: EntityName<Row<Table>> = ENTITIES[table] as never; // TypeScript cannot infer it from `Table`
  const key = table === 'authorization_request' ? 'idHash' : 'id';
  const find = () =>
    tx.em.find(entity, where, { lockMode: MODES[mode], orderBy: { [key]: 'asc' } as never, refresh: true });
  const rows = await lockInOrder(tx.held, [table], find, (found) =>
    found.map((row) => String((row as { id?: string }).id)),
  );
  return rows as Row<Table>[];
}

/** Locks a membership of the locked team, whatever its status, and prevents the deletion of its account. */
export async function lockMember(tx: Change, teamId: string, accountId: string): Promise<Membership | null> {
  await tx.run([[lockAccountsShared, [accountId, null]]]);
  return lockMembership(tx, teamId, accountId);
}

/** Locks a membership like `lockMember`, if the account is already locked. */
export async function lockMembership(tx: Change, teamId: string, accountId: string): Promise<Membership | null> {
  const [membership] = await lockMany(tx, 'membership', { team: teamId, account: accountId });
  return membership ?? null;
}
