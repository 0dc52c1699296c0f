import type { Principal } from '../../auth/principal.ts';
import { sortScopes } from '../../auth/scopes.ts';
import type { Tokens } from '../../crypto/tokens.ts';
import { command, query, type RowsOf } from '../../db/query.ts';
import { newId, type Scope } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { noticeSteps, noticeTargetStep } from '../../jobs/notify.ts';
import { changeAccount } from '../../transactions/change-account.ts';
import { changeTeam, changeTeamAsOperator } from '../../transactions/change-team.ts';
import { lockAccountStep, lockMembershipStep } from '../../transactions/lock-steps.ts';
import { inSteps, type Change } from '../../transactions/steps.ts';
import type { TransactionScope } from '../../transactions/transaction.ts';
import { requireForKind, requireHeld } from './api-keys.service.ts';
import { lockCredentialSteps, readHeld, type KeyOrigin } from './held-scopes.ts';

export type NewApiKey = {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly teamId?: string | undefined;
  readonly expiresAt: Date | null;
};

/** The caller and the limit of active keys. */
type Bounds = { readonly caller: Principal; readonly keyLimit: number };

const keysOfAccount = query<{ active: number }>(
  'active_keys_of_account',
  'select count(*)::int as active from api_key where account_id = $1 and team_id is null and revoked_at is null',
);
const keysOfTeam = query<{ active: number }>(
  'active_keys_of_team',
  'select count(*)::int as active from api_key where team_id = $1 and revoked_at is null',
);

/** Creates an API key of the caller. Keys are counted under the lock of the account or team that they belong to. */
export async function createApiKey(
  db: TransactionScope,
  tokens: Tokens,
  input: NewApiKey,
  { caller, keyLimit }: Bounds,
) {
  const { teamId, scopes } = input;
  const { accountId } = caller;
  const credential = lockCredentialSteps(caller);
  const reads = [
    teamId === undefined ? ([keysOfAccount, [accountId]] as const) : ([keysOfTeam, [teamId]] as const),
    ...credential,
  ] as const;
  const create = async (change: Change, [[count], ...locked]: Rows) => {
    const held = readHeld(caller, locked);
    requireForKind(scopes, teamId !== undefined);
    requireHeld(held.scopes, scopes, 'The calling credential');
    const active = count?.active ?? 0;
    if (active >= keyLimit)
      throw new ProblemError('key_limit_reached', `There are ${active} active keys; the limit is ${keyLimit}.`);
    const created = insertKey(change, tokens, accountId, input, held.origin);
    if (caller.kind === 'session') {
      const [targets] = await change.run([noticeTargetStep(accountId)]);
      for (const step of noticeSteps(accountId, targets, { kind: 'api_key_created' })) change.later(step);
    }
    return created;
  };
  type Rows = RowsOf<typeof reads>;

  if (teamId !== undefined) {
    const teamCaller = { teamId, accountId, credential: caller };
    return changeTeam(db, teamCaller, 'manage_api_keys', { reads }, ({ change }, rows) => create(change, rows));
  }
  return changeAccount(db, caller, reads, (change, account, rows) => {
    if (account.created_by !== 'operator' && !account.is_verified) throw new ProblemError('email_not_verified');
    return create(change, rows);
  });
}

/** Creates an API key for the operator, without a limit. */
export function createApiKeyAsOperator(db: TransactionScope, tokens: Tokens, accountId: string, input: NewApiKey) {
  const { teamId, scopes } = input;
  requireForKind(scopes, teamId !== undefined);
  if (teamId === undefined) {
    return inSteps(db, async (change) => {
      const [[account]] = await change.run([[lockAccountStep, [accountId]]]);
      if (account === undefined) throw new ProblemError('credential_invalid');
      return insertKey(change, tokens, accountId, input, null);
    });
  }
  const locks = { account: accountId, reads: [[lockMembershipStep, [teamId, accountId]]] as const };
  return changeTeamAsOperator(db, teamId, locks, (change, [[membership]]) => {
    // Whatever its status: the key works while the membership is active.
    if (membership === undefined) throw new ProblemError('team_not_found');
    return insertKey(change, tokens, accountId, input, null);
  });
}

const insertApiKey = command<never>(
  'insert_api_key',
  `with created as (
     insert into api_key (id, created_at, account_id, oauth_grant_id, oauth_family_id, team_id, name, scopes, key_prefix,
       last4, expires_at)
     values ($1, $2::timestamptz, $3, $4, $5, $6, $7, string_to_array($8, ' '), $9, $10, $11::timestamptz)
     returning id, created_at)
   insert into api_key_secret (secret_hash, api_key_id, created_at) select $12, id, created_at from created`,
);

function insertKey(
  change: Change,
  tokens: Tokens,
  accountId: string,
  { name, teamId = null, ...input }: Omit<NewApiKey, 'teamId'> & { readonly teamId?: string | null | undefined },
  origin: KeyOrigin | null,
) {
  const { secret, hash, keyPrefix, last4 } = tokens.generate(teamId === null ? 'personalKey' : 'teamKey');
  const [id, createdAt, scopes] = [newId('key'), new Date(), sortScopes(input.scopes)];
  const expiresAt = earlier(input.expiresAt, origin?.expiresAt ?? null);
  change.later([
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
      hash,
    ],
  ]);
  change.record('api_key.created', { keyId: id, teamId, ...(teamId !== null && { name }), accountId, scopes });
  const team = teamId === null ? null : { id: teamId };
  return { key: { id, name, keyPrefix, last4, scopes, team, createdAt, expiresAt }, secret };
}

const earlier = (a: Date | null, b: Date | null): Date | null => (a !== null && b !== null && b < a ? b : (a ?? b));
