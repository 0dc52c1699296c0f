import { raw } from '@mikro-orm/core';
import { record } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { revokeGrants } from '../../transactions/revocation.ts';
import { transaction } from '../../transactions/transaction.ts';
import type { Principal } from '../../auth/principal.ts';
import { inOrder } from '../../auth/scopes.ts';
import { OAuthGrant, type Scope } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import { lockGrant } from './oauth-grants.queries.ts';

/** Takes scopes away from a grant, from the next request on. Keys that were made through it stay as they are. */
export async function narrowGrant(
  { db }: Services,
  { accountId }: Principal,
  grantId: string,
  scopes: readonly Scope[],
) {
  return transaction(db, async (tx) => {
    const before = await ownGrant(tx, accountId, grantId);
    requireHeld(before.scopes, scopes);
    const kept = inOrder(scopes);
    if (kept.length === before.scopes.length) return before;
    // By the database's clock, which the consumption of refresh tokens is compared with.
    await tx.nativeUpdate(OAuthGrant, { id: grantId }, { scopes: kept, narrowedAt: raw('clock_timestamp()') });
    record(tx, 'oauth_grant.reduced', { ...namesOf(before, accountId), scopes: kept });
    return { ...before, scopes: kept };
  });
}

/** Ends a grant, its tokens and the keys that were made through it, from the next request on. */
export async function revokeGrant({ db }: Services, { accountId }: Principal, grantId: string): Promise<void> {
  await transaction(db, async (tx) => {
    await ownGrant(tx, accountId, grantId);
    await revokeGrants(tx, { id: grantId }, 'by the account');
  });
}

type Grant = NonNullable<Awaited<ReturnType<typeof lockGrant>>>;

async function ownGrant(tx: EntityManager, accountId: string, grantId: string): Promise<Grant> {
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

const namesOf = ({ id, client, team }: Grant, accountId: string) => ({
  accountId,
  clientId: client.id,
  grantId: id,
  teamId: team?.id ?? null,
});
