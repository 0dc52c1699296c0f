import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { sortScopes } from '../../auth/scopes.ts';
import type { Tokens } from '../../crypto/tokens.ts';
import { nowStep, toNow } from '../../db/clock.ts';
import { command, query, type RowsOf, type Step } from '../../db/query.ts';
import { newId, type ProductPermission, type Scope } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { noticeSteps, noticeTargetStep } from '../../jobs/notify.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { lockAccountShared, lockMembershipStep, type LockedAccount } from '../../transactions/lock-steps.ts';
import { requireChangeable } from '../../transactions/operator-caller.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { sortProductPermissions } from '../../auth/permissions.ts';
import { requireEnabled } from '../accounts/require-account.ts';
import { declaredSteps, requireDeclared, type Declared } from '../permissions/declared-permissions.ts';
import { toEnd, type End } from '../../time.ts';
import { requireForKind, requireHeldScopes } from './api-keys.service.ts';
import { lockCredentialSteps, readHeld, type KeyOrigin } from './held-scopes.ts';
import { hasEqualRights, isRotation, rotationsStep } from './rotation-by-key.ts';

export type NewApiKey = {
  readonly name: string;
  /** Can be empty if there are permissions. */
  readonly scopes: readonly Scope[];
  /** Of the operator’s product. */
  readonly permissions?: readonly ProductPermission[] | undefined;
  readonly teamId?: string | undefined;
  readonly expiresAt: End;
};

/** The rows of the statements that a change reads first. */
type Found = readonly (readonly unknown[])[];

const keysOfAccount = query<{ active: number }>(
  'api_key_list_active_of_account',
  'select count(*)::int as active from api_key where account_id = $1 and team_id is null and revoked_at is null',
);
const keysOfTeam = query<{ active: number }>(
  'api_key_list_active_of_team',
  'select count(*)::int as active from api_key where team_id = $1 and revoked_at is null',
);

/** Creates an API key of the caller. Keys are counted under the lock of the account or team that they belong to. */
export async function createApiKey({ db, tokens, config }: Services, caller: Principal, input: NewApiKey) {
  const { teamId, scopes, permissions = [] } = input;
  requireContent(input);
  const { accountId } = caller;
  const declaring = declaringSteps(input);
  const credential = lockCredentialSteps(caller);
  const reads = [
    nowStep,
    teamId === undefined ? ([keysOfAccount, [accountId]] as const) : ([keysOfTeam, [teamId]] as const),
    noticeTargetStep(accountId),
    rotationsStep(caller),
    ...credential,
  ] as const;
  const create = (opened: Change, rows: Found, inTeam: readonly ProductPermission[] | null) => {
    const declared = readDeclaring(rows, declaring);
    const [time, [count], targets, [rotations], ...locked] = rows.slice(declaring.length) as unknown as Rows; // as the statements declare
    const held = readHeld(caller, locked);
    requireDeclared(declared, permissions, FOR_KEYS);
    requireAllowed(permissions, held.productLimit, inTeam);
    requireForKind(scopes, teamId !== undefined);
    requireHeldScopes(held.scopes, scopes, 'The calling credential');
    const active = count?.active ?? 0;
    if (active >= config.keyLimit)
      throw new ProblemError('key_limit_reached', `There are ${active} active keys; the limit is ${config.keyLimit}.`);
    const maker = hasEqualRights(caller, input) ? held.key : null;
    const rotationId = maker === null ? null : (maker.rotation_id ?? maker.id);
    const created = insertKey(opened, tokens, accountId, { ...input, rotationId, now: toNow(time) }, held.origin);
    if (maker === null || !isRotation(maker, created.key, rotations))
      for (const step of createNotices(accountId, targets, input)) opened.later(step);
    return created;
  };
  type Rows = RowsOf<typeof reads>;

  if (teamId !== undefined) {
    const teamCaller = { teamId, accountId, credential: caller };
    const spec = { on: { team: teamId }, requires: 'manage_api_keys', reads: [...declaring, ...reads] } as const;
    return change(db, teamCaller, spec, (opened, rows) => create(opened, rows, opened.role.productPermissions));
  }
  const spec = { on: { account: accountId }, requires: 'self', reads: [...declaring, ...reads] } as const;
  return change(db, caller, spec, (opened, rows) => {
    requireHolder(opened.account);
    return create(opened, rows, null);
  });
}

/** Requires a key that is good for something. @throws validation_failed (400) */
function requireContent({ scopes, permissions = [] }: NewApiKey): void {
  if (scopes.length + permissions.length === 0)
    throw invalidInput('/scopes', 'A key needs scopes or permissions.', 'min_length', 'body', { min: 1 });
}

export const FOR_KEYS = { held: [], isForKeys: true, pointer: '/permissions' } as const;

/** The statements that read what the catalogue declares, the first ones; none if there is nothing to read. */
const declaringSteps = ({ permissions = [] }: Pick<NewApiKey, 'permissions'>): readonly Step[] =>
  permissions.length === 0 ? [] : declaredSteps(permissions);

const readDeclaring = (rows: Found, declaring: readonly Step[]) =>
  (declaring.length === 0 ? [] : rows[1]) as readonly Declared[]; // as `declaredSteps` declares

/**
 * Requires permissions that the calling credential can have, and for a team those that its role holds. A personal key is
 * limited by the role of each team at each call. @throws permission_not_allowed (403)
 */
export function requireAllowed(
  permissions: readonly ProductPermission[],
  limit: readonly ProductPermission[] | null,
  inTeam: readonly ProductPermission[] | null,
): void {
  const beyond = permissions.filter((name) => limit?.includes(name) === false || inTeam?.includes(name) === false);
  if (beyond.length > 0) throw new ProblemError('permission_not_allowed', `You do not hold ${beyond.join(', ')}.`);
}

const createNotices = (
  accountId: string,
  targets: Parameters<typeof noticeSteps>[1],
  { name, teamId }: Pick<NewApiKey, 'name' | 'teamId'>,
) => noticeSteps(accountId, targets, { kind: 'api_key_created', thing: name, teamId });

type Issuing = { readonly db: TransactionScope; readonly tokens: Tokens };

/**
 * Creates an API key of another account, for the operator and without a limit.
 * @throws session_required (403) for an operator key and the account of an operator
 */
export function createApiKeyFor(
  { db, tokens }: Issuing,
  caller: OperatorCaller | 'system',
  accountId: string,
  input: NewApiKey,
) {
  const { teamId, scopes, permissions = [] } = input;
  requireContent(input);
  requireForKind(scopes, teamId !== undefined);
  const declaring = declaringSteps(input);
  const create = (opened: Change, account: LockedAccount, rows: Found) => {
    requireChangeable(caller, account);
    requireEnabled(account, '/accountId');
    requireHolder(account);
    requireDeclared(readDeclaring(rows, declaring), permissions, FOR_KEYS);
    // Of the last two statements.
    const targets = rows.at(-2) as Parameters<typeof noticeSteps>[1];
    const now = toNow(rows.at(-1) as { now: string }[]);
    for (const step of createNotices(accountId, targets, input)) opened.later(step);
    return insertKey(opened, tokens, accountId, { ...input, now }, null);
  };
  if (teamId === undefined) {
    const reads = [...declaring, noticeTargetStep(accountId), nowStep] as const;
    const spec = { on: { account: accountId }, requires: 'operator', reads } as const;
    return change(db, caller, spec, (opened, rows) => create(opened, opened.account, rows));
  }
  const locks = [
    [lockAccountShared, [accountId]],
    [lockMembershipStep, [teamId, accountId]],
  ] as const;
  const reads = [...declaring, ...locks, noticeTargetStep(accountId), nowStep] as const;
  const spec = { on: { team: teamId }, requires: 'operator', reads } as const;
  return change(db, caller, spec, (opened, rows) => {
    const [[account], [membership]] = rows.slice(declaring.length) as unknown as [LockedAccount[], object[]]; // as the statements declare
    if (account === undefined) throw new ProblemError('account_not_found');
    // Whatever its status: the key works while the membership is active.
    if (membership === undefined) throw new ProblemError('team_not_found');
    return create(opened, account, rows);
  });
}

/** Requires an account that can hold keys: those of the operator also before their address is verified. */
function requireHolder({ created_by: createdBy, is_verified: isVerified }: LockedAccount): void {
  if (createdBy !== 'operator' && !isVerified) throw new ProblemError('email_not_verified');
}

const insertApiKey = command<never>(
  'api_key_insert',
  `with created as (
     insert into api_key (id, created_at, account_id, oauth_grant_id, oauth_family_id, team_id, name, scopes, key_prefix,
       last4, expires_at, rotation_id, product_permissions)
     values ($1, $2::timestamptz, $3, $4, $5, $6, $7, string_to_array($8, ' '), $9, $10, $11::timestamptz, $12,
       string_to_array($14, ' '))
     returning id, created_at)
   insert into api_key_secret (secret_hash, api_key_id, created_at) select $13, id, created_at from created`,
);

type Insertable = Omit<NewApiKey, 'teamId'> & {
  readonly teamId?: string | null | undefined;
  readonly rotationId?: string | null;
  /** The time of the database. */
  readonly now: Date;
};

function insertKey(
  opened: Change,
  tokens: Tokens,
  accountId: string,
  { name, teamId = null, rotationId = null, now: createdAt, ...input }: Insertable,
  origin: KeyOrigin | null,
) {
  const { secret, hash, keyPrefix, last4 } = tokens.generate(teamId === null ? 'personalKey' : 'teamKey');
  const [id, scopes] = [newId('key'), sortScopes(input.scopes)];
  const productPermissions = sortProductPermissions(input.permissions ?? []);
  const expiresAt = earlier(toEnd(input.expiresAt, createdAt), origin?.expiresAt ?? null);
  opened.later([
    insertApiKey,
    [
      id,
      createdAt.toISOString(),
      accountId,
      origin?.grantId ?? null,
      origin?.familyId ?? null,
      teamId,
      name,
      scopes.join(' '),
      keyPrefix,
      last4,
      expiresAt?.toISOString() ?? null,
      rotationId,
      hash,
      productPermissions.join(' '),
    ],
  ]);
  opened.record('api_key.created', {
    keyId: id,
    teamId,
    ...(teamId !== null && { name }),
    accountId,
    scopes,
    ...(productPermissions.length > 0 && { productPermissions }),
  });
  const team = teamId === null ? null : { id: teamId };
  return { key: { id, name, keyPrefix, last4, scopes, productPermissions, team, createdAt, expiresAt }, secret };
}

const earlier = (a: Date | null, b: Date | null): Date | null => (a !== null && b !== null && b < a ? b : (a ?? b));
