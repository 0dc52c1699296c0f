import type { EntityManager } from '@mikro-orm/postgresql';
import { sortScopes } from '../../auth/scopes.ts';
import type { Services } from '../../app-services.ts';
import {
  GRANT_DAYS,
  newId,
  OAuthGrant,
  OAuthToken,
  OAuthTokenFamily,
  type Resource,
  type Scope,
} from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { record } from '../../events/record.ts';
import { addDays } from '../../time.ts';
import { isPast } from '../../auth/active-membership.ts';
import { lockMany, lockOne, lockShared } from '../../transactions/locks.ts';
import { reduceGrant } from '../../transactions/reduce-grant.ts';
import { revokeGrants } from '../../transactions/revocation.ts';
import { transaction } from '../../transactions/transaction.ts';
import { lockAccount } from '../../transactions/with-account.ts';
import { lockTeamFor } from '../../transactions/with-team.ts';

type Consent = {
  readonly family_id: string;
  readonly account_id: string;
  readonly client_id: string;
  readonly team_id: string | null;
  readonly resource: Resource;
  readonly scopes: Scope[];
};

/** `unknown` also if what the consent depends on no longer exists, such as the membership or the client. */
export type Exchange =
  | { readonly outcome: 'exchanged'; readonly grantId: string }
  | { readonly outcome: 'used' | 'unknown' | 'other_resource' };

const UNKNOWN: Exchange = { outcome: 'unknown' };

/**
 * Consumes a code, and with it puts the consent behind it into effect: the grant of its account, client, resource and
 * audience gets the scopes of the consent and a new expiry. Of concurrent calls only one succeeds.
 */
export async function exchangeCode(
  { db }: Services,
  codeHash: Buffer,
  requestedResource: Resource | undefined,
): Promise<Exchange> {
  try {
    return await transaction(db, async (tx) => {
      const consent = await findConsent(tx, codeHash);
      if (consent === undefined) return UNKNOWN;
      if (requestedResource !== undefined && requestedResource !== consent.resource)
        return { outcome: 'other_resource' };
      await lockOwners(tx, consent);
      const active = await lockActiveGrant(tx, consent);
      const family = await lockOne(tx, 'oauth_token_family', consent.family_id);
      if (family === null) return UNKNOWN;
      if (family.grant) {
        // Exchanged, or issued by a replica of the version before, which creates the grant with the consent.
        const isConsumed = await consume(tx, codeHash, family.grant.id);
        return isConsumed ? { outcome: 'exchanged', grantId: family.grant.id } : { outcome: 'used' };
      }
      const grantId = await applyConsent(tx, active, consent);
      await tx.nativeUpdate(OAuthTokenFamily, { id: consent.family_id }, { grant: grantId });
      await consume(tx, codeHash, grantId);
      return { outcome: 'exchanged', grantId };
    });
  } catch (error) {
    if (error instanceof ProblemError) return UNKNOWN;
    throw error;
  }
}

async function findConsent(tx: EntityManager, codeHash: Buffer): Promise<Consent | undefined> {
  const [row] = await tx.execute<Consent[]>(
    `select f.id as family_id, f.account_id, f.client_id, f.team_id, f.resource, f.scopes
     from oauth_token t join oauth_token_family f on f.id = t.family_id
     where t.token_hash = ? and t.kind = 'code'`,
    [codeHash],
  );
  return row;
}

/** Locks the owners of the grant. The first lock serializes the exchanges of an account or team. */
async function lockOwners(tx: EntityManager, consent: Consent): Promise<void> {
  const { account_id: accountId, client_id: clientId, team_id: teamId } = consent;
  if (teamId === null) await lockAccount(tx, accountId);
  else await lockTeamFor(tx, { teamId, accountId, credential: null }, 'member');
  const [client] = await lockShared(tx, 'oauth_client', [clientId]);
  if (client === undefined) throw new ProblemError('client_not_found');
}

/** Locks the grant that the consent renews. A replica of the version before can have created more than one. */
async function lockActiveGrant(tx: EntityManager, consent: Consent): Promise<OAuthGrant | undefined> {
  const { account_id: account, client_id: client, team_id: team, resource } = consent;
  const resourceFilter = resource === 'api' ? { $or: [{ resource }, { resource: null }] } : { resource };
  const grants = await lockMany(tx, 'oauth_grant', { account, client, team, revokedAt: null, ...resourceFilter });
  return grants.toSorted((a, b) => Number(Boolean(b.resource)) - Number(Boolean(a.resource)))[0];
}

async function applyConsent(tx: EntityManager, active: OAuthGrant | undefined, consent: Consent): Promise<string> {
  if (active === undefined) return createGrant(tx, consent);
  if (!isPast(active.expiresAt)) return renewGrant(tx, active, consent);
  // Its keys and tokens must not become valid again.
  await revokeGrants(tx, { id: active.id }, 'expired');
  return createGrant(tx, consent);
}

async function createGrant(tx: EntityManager, consent: Consent): Promise<string> {
  const id = newId('grant');
  tx.create(OAuthGrant, {
    id,
    account: consent.account_id,
    client: consent.client_id,
    audience: consent.team_id === null ? 'personal' : 'team',
    team: consent.team_id,
    resource: consent.resource,
    scopes: consent.scopes,
    expiresAt: addDays(new Date(), GRANT_DAYS),
  });
  record(tx, 'oauth_grant.created', toEventFields(consent, id));
  await tx.flush();
  return id;
}

async function renewGrant(tx: EntityManager, { id, scopes }: OAuthGrant, consent: Consent): Promise<string> {
  const kept = scopes.filter((scope) => consent.scopes.includes(scope));
  if (kept.length < scopes.length) await reduceGrant(tx, id, kept.length > 0 ? kept : consent.scopes);
  await tx.nativeUpdate(
    OAuthGrant,
    { id },
    { scopes: sortScopes(consent.scopes), resource: consent.resource, expiresAt: addDays(new Date(), GRANT_DAYS) },
  );
  await deleteDeadFamilies(tx, id);
  record(tx, 'oauth_grant.renewed', toEventFields(consent, id));
  return id;
}

/** Deletes families without tokens and keys, so that repeated consents do not accumulate rows. */
const deleteDeadFamilies = (tx: EntityManager, grantId: string) =>
  tx.execute(
    `delete from oauth_token_family f where grant_id = ?
       and not exists (select from oauth_token t where t.family_id = f.id)
       and not exists (select from api_key k where k.oauth_family_id = f.id and k.revoked_at is null)`,
    [grantId],
  );

async function consume(tx: EntityManager, tokenHash: Buffer, grantId: string): Promise<boolean> {
  const consumed = await tx.nativeUpdate(
    OAuthToken,
    { tokenHash, consumedAt: null },
    { consumedAt: new Date(), grant: grantId },
  );
  return consumed === 1;
}

const toEventFields = (consent: Consent, grantId: string) => ({
  accountId: consent.account_id,
  clientId: consent.client_id,
  teamId: consent.team_id,
  grantId,
  scopes: consent.scopes,
});
