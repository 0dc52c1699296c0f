import { record } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { reduceGrant } from '../../transactions/reduce-grant.ts';
import { deletePendingConsents, revokeGrants } from '../../transactions/revocation.ts';
import { transaction } from '../../transactions/transaction.ts';
import type { Principal } from '../../auth/principal.ts';
import { sortScopes } from '../../auth/scopes.ts';
import type { Scope } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import { lockGrant } from './oauth-grants.queries.ts';

/** Removes scopes from a grant, its tokens and its API keys, effective for the next request. */
export async function reduceScopes(
  { db }: Services,
  { accountId }: Principal,
  grantId: string,
  scopes: readonly Scope[],
) {
  return transaction(db, async (tx) => {
    const before = await requireGrant(tx, accountId, grantId);
    requireHeld(before.scopes, scopes);
    const kept = sortScopes(scopes);
    if (kept.length === before.scopes.length) return before;
    await reduceGrant(tx, grantId, kept);
    // An earlier consent whose code is exchanged later must not give the scopes back.
    await deletePendingConsents(tx, { account: accountId, client: before.client.id });
    record(tx, 'oauth_grant.reduced', { ...toEventFields(before, accountId), scopes: kept });
    return { ...before, scopes: kept };
  });
}

/**
 * Revokes a grant, its tokens and the API keys that were created through it, effective for the next request. Consents
 * for the same client whose codes were not exchanged yet are withdrawn with it.
 */
export async function revokeGrant({ db }: Services, { accountId }: Principal, grantId: string): Promise<void> {
  await transaction(db, async (tx) => {
    const { client } = await requireGrant(tx, accountId, grantId);
    await revokeGrants(tx, { id: grantId }, 'by the account');
    await deletePendingConsents(tx, { account: accountId, client: client.id });
  });
}

type Grant = NonNullable<Awaited<ReturnType<typeof lockGrant>>>;

async function requireGrant(tx: EntityManager, accountId: string, grantId: string): Promise<Grant> {
  const grant = await lockGrant(tx, accountId, grantId);
  if (grant === null) throw new ProblemError('grant_not_found');
  return grant;
}

function requireHeld(held: readonly Scope[], scopes: readonly Scope[]): void {
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

const toEventFields = ({ id, client, team }: Grant, accountId: string) => ({
  accountId,
  clientId: client.id,
  grantId: id,
  teamId: team?.id ?? null,
});
