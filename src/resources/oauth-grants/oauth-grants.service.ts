import { reduceGrant } from './reduce-grant.ts';
import { deletePendingConsents, revokeGrants } from '../../transactions/revocation.ts';
import { change } from '../../transactions/change.ts';
import { lockRows } from '../../transactions/lock-order.ts';
import type { Principal } from '../../auth/principal.ts';
import { sortScopes } from '../../auth/scopes.ts';
import type { Scope } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { liveGrantStep, presentGrant, type LiveGrant } from './oauth-grants.queries.ts';
import type { TransactionScope } from '../../transactions/steps.ts';

const lockGrantOfAccount = lockRows(
  'oauth_grant',
  'oauth_grant_lock_of_account',
  'select id from oauth_grant where account_id = $1 and id = $2',
);

/** Removes scopes from a grant, its tokens and its API keys, effective for the next request. */
export async function reduceScopes(db: TransactionScope, caller: Principal, grantId: string, scopes: readonly Scope[]) {
  const { accountId } = caller;
  return change(db, caller, toChange(accountId, grantId), async (tx, [, [row]]) => {
    const before = requireGrant(row);
    requireFewer(before.scopes, scopes);
    const kept = sortScopes(scopes);
    if (kept.length === before.scopes.length) return before;
    await reduceGrant(tx, grantId, kept);
    // An earlier consent whose code is exchanged later must not give the scopes back.
    deletePendingConsents(tx, { account: accountId, client: before.client.id });
    tx.record('oauth_grant.reduced', { ...toEventFields(before, accountId), scopes: kept });
    return { ...before, scopes: kept };
  });
}

/**
 * Revokes a grant, its tokens and the API keys that were created through it, effective for the next request. Consents
 * for the same client whose codes were not exchanged yet are withdrawn with it.
 */
export async function revokeGrant(db: TransactionScope, caller: Principal, grantId: string): Promise<void> {
  const { accountId } = caller;
  await change(db, caller, toChange(accountId, grantId), async (tx, [, [row]]) => {
    const { client } = requireGrant(row);
    await revokeGrants(tx, { id: grantId }, 'by the account');
    deletePendingConsents(tx, { account: accountId, client: client.id });
  });
}

const toChange = (accountId: string, grantId: string) =>
  ({
    on: { account: accountId },
    requires: 'self',
    reads: [[lockGrantOfAccount, [accountId, grantId]], liveGrantStep(accountId, grantId)],
  }) as const;

function requireGrant(row: Parameters<typeof presentGrant>[0] | undefined): LiveGrant {
  if (row === undefined) throw new ProblemError('grant_not_found');
  return presentGrant(row);
}

function requireFewer(held: readonly Scope[], scopes: readonly Scope[]): void {
  const errors = scopes.flatMap((scope, i) =>
    held.includes(scope)
      ? []
      : [
          {
            in: 'body' as const,
            pointer: `/scopes/${i}`,
            code: 'invalid_value' as const,
            params: { allowed: held.join(', ') },
          },
        ],
  );
  if (errors.length > 0) throw new ProblemError('validation_failed', 'A grant can only lose scopes.', { errors });
}

const toEventFields = ({ id, client, team }: LiveGrant, accountId: string) => ({
  accountId,
  clientId: client.id,
  grantId: id,
  teamId: team?.id ?? null,
});
