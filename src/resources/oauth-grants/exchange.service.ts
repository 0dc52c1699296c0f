import { sortScopes } from '../../auth/scopes.ts';
import type { Database } from '../../db/database.ts';
import { command, query } from '../../db/query.ts';
import {
  GRANT_DAYS,
  newId,
  OAuthGrant,
  type ProductPermission,
  type Resource,
  type Scope,
} from '../../entities/index.ts';
import { liveFamily, openSession } from '../../db/predicates.ts';
import { ProblemError } from '../../problems/error.ts';
import { addDays } from '../../time.ts';
import { lockSession } from '../../transactions/lock-credentials.ts';
import { lockClientShared } from '../../transactions/lock-steps.ts';
import { lockMany, lockOne } from '../../transactions/locks.ts';
import { limitKeysOfGrants, reduceGrant } from './reduce-grant.ts';
import { lockCatalogueStep } from '../permissions/declared-permissions.ts';
import { revokeGrants } from '../../transactions/revocation.ts';
import { change } from '../../transactions/change.ts';
import type { Change } from '../../transactions/steps.ts';

type Consent = {
  readonly family_id: string;
  readonly account_id: string;
  readonly client_id: string;
  readonly team_id: string | null;
  readonly resource: Resource;
  /** Those of a first-party client are the operator's, so that a request for fewer takes none from other devices. */
  readonly scopes: Scope[];
  /** Null without `openid`, and of first-party clients, whose sessions have them. */
  readonly openid_scopes: string[] | null;
  /** Of a first-party client whose sessions last longer. */
  readonly session_id: string | null;
  /** The time of the database, which decides what has expired. */
  readonly now: string;
};

/** `unknown` also if what the consent depends on no longer exists, such as the membership or the client. */
export type Exchange =
  | { readonly outcome: 'exchanged'; readonly grantId: string }
  | { readonly outcome: 'used' | 'unknown' | 'other_resource' };

const UNKNOWN: Exchange = { outcome: 'unknown' };

const consentOfCode = query<Consent>(
  'oauth_token_family_find_of_code',
  `select f.id as family_id, f.account_id, f.client_id, f.team_id, f.resource,
     case when f.session_id is null then f.scopes else c.scopes end as scopes,
     case when f.session_id is null then f.openid_scopes end as openid_scopes,
     case when c.session_days is not null then f.session_id end as session_id, now() as now
   from oauth_token t
   join oauth_token_family f on f.id = t.family_id
   join oauth_client c on c.id = f.client_id
   where t.token_hash = $1 and t.kind = 'code' and ${liveFamily('f', 'f')}`,
);

/**
 * Consumes a code, and with it puts the consent behind it into effect: the grant of its account, client, resource and
 * audience gets the scopes of the consent and a new expiry. Of concurrent calls only one succeeds.
 */
export async function exchangeCode(
  db: Database,
  codeHash: Buffer,
  requestedResource: Resource | undefined,
): Promise<Exchange> {
  const [consent] = await db.query(consentOfCode, [codeHash]);
  if (consent === undefined) return UNKNOWN;
  if (requestedResource !== undefined && requestedResource !== consent.resource) return { outcome: 'other_resource' };
  try {
    return await changeFor(db, consent, (tx) => exchange(tx, consent, codeHash));
  } catch (error) {
    if (error instanceof ProblemError) return UNKNOWN;
    throw error;
  }
}

/** Locks the account or team of a consent, by which its exchanges take turns. */
function changeFor<R>(db: Database, consent: Consent, work: (opened: Change) => Promise<R>): Promise<R> {
  const { account_id: accountId, team_id: teamId } = consent;
  if (teamId === null)
    return change(db, 'visitor', { on: { account: accountId }, requires: 'nothing' }, (opened) => {
      if (opened.account === null) throw new ProblemError('account_not_found');
      return work(opened);
    });
  // The membership counts, and no credential: the code is one.
  const member = { teamId, accountId, credential: null };
  return change(db, member, { on: { team: teamId }, requires: 'member' }, work);
}

async function exchange(tx: Change, consent: Consent, codeHash: Buffer): Promise<Exchange> {
  const { session_id: sessionId } = consent;
  if (sessionId !== null) await tx.run([[lockSession, [sessionId, consent.account_id]]]);
  const [, [client]] = await tx.run([lockCatalogueStep, [lockClientShared, [consent.client_id]]]);
  if (client === undefined) return UNKNOWN;
  const active = await lockActiveGrant(tx, consent);
  const family = await lockOne(tx, 'oauth_token_family', consent.family_id);
  if (family === null) return UNKNOWN;
  if (family.grant) {
    // Exchanged, or issued by a replica of the version before, which creates the grant with the consent.
    const isConsumed = await consume(tx, codeHash, family.grant.id);
    return isConsumed ? { outcome: 'exchanged', grantId: family.grant.id } : { outcome: 'used' };
  }
  // As they are under the locks: the operator can take some from the client while its code waits.
  family.grant = await applyConsent(tx, active, consent, family.productPermissions);
  if (sessionId !== null) await tx.run([[extendSession, [sessionId, consent.client_id]]]);
  await consume(tx, codeHash, family.grant.id);
  return { outcome: 'exchanged', grantId: family.grant.id };
}

/** From the sign-in on, so that an application that the user opens each day does not prolong the session each day. */
const extendSession = command<never>(
  'session_update_extended',
  `update session s set expires_at = greatest(s.expires_at, s.created_at + c.session_days * interval '24 hours')
   from oauth_client c where s.id = $1 and c.id = $2 and c.session_days is not null and ${openSession('s')}`,
);

/** Locks the grant that the consent renews. A replica of the version before can have created more than one. */
async function lockActiveGrant(tx: Change, consent: Consent): Promise<OAuthGrant | undefined> {
  const { account_id: account, client_id: client, team_id: team, resource } = consent;
  const resourceFilter = resource === 'api' ? { $or: [{ resource }, { resource: null }] } : { resource };
  const grants = await lockMany(tx, 'oauth_grant', { account, client, team, revokedAt: null, ...resourceFilter });
  return grants.toSorted((a, b) => Number(Boolean(b.resource)) - Number(Boolean(a.resource)))[0];
}

async function applyConsent(
  tx: Change,
  active: OAuthGrant | undefined,
  consent: Consent,
  permissions: readonly ProductPermission[],
): Promise<OAuthGrant> {
  if (active === undefined) return createGrant(tx, consent, permissions);
  if (active.expiresAt > new Date(consent.now)) return renewGrant(tx, active, consent, permissions);
  // Its keys and tokens must not become valid again.
  await revokeGrants(tx, { id: active.id }, 'expired');
  return createGrant(tx, consent, permissions);
}

function createGrant(tx: Change, consent: Consent, permissions: readonly ProductPermission[]): OAuthGrant {
  const id = newId('grant');
  tx.record('oauth_grant.created', toEventFields(consent, id));
  return tx.em.create(OAuthGrant, {
    id,
    account: consent.account_id,
    client: consent.client_id,
    audience: consent.team_id === null ? 'personal' : 'team',
    team: consent.team_id,
    resource: consent.resource,
    scopes: consent.scopes,
    openidScopes: consent.openid_scopes,
    productPermissions: [...permissions],
    expiresAt: addDays(new Date(consent.now), GRANT_DAYS),
  });
}

async function renewGrant(
  tx: Change,
  grant: OAuthGrant,
  consent: Consent,
  permissions: readonly ProductPermission[],
): Promise<OAuthGrant> {
  const { id, scopes } = grant;
  // First, because a grant without scopes of the API needs them.
  const openid = consent.openid_scopes?.join(' ') ?? null;
  if (openid !== null) tx.later([keepOpenIdScopes, [id, openid]]);
  const kept = scopes.filter((scope) => consent.scopes.includes(scope));
  if (kept.length < scopes.length) await reduceGrant(tx, id, kept.length > 0 ? kept : consent.scopes);
  tx.later([
    renewGrantRow,
    [
      id,
      sortScopes(consent.scopes).join(' '),
      consent.resource,
      addDays(new Date(consent.now), GRANT_DAYS).toISOString(),
      openid,
      permissions.join(' '),
    ],
  ]);
  tx.later([deleteDeadFamilies, [id]]);
  await limitKeysOfGrants(tx, [id]);
  tx.record('oauth_grant.renewed', toEventFields(consent, id));
  return grant;
}

const renewGrantRow = command<never>(
  'oauth_grant_update_renewed',
  `update oauth_grant set scopes = string_to_array($2, ' '), resource = $3, expires_at = $4::timestamptz,
     openid_scopes = string_to_array($5, ' '), product_permissions = string_to_array($6, ' ') where id = $1`,
);

const keepOpenIdScopes = command<never>(
  'oauth_grant_update_openid',
  `update oauth_grant set openid_scopes = string_to_array($2, ' ') where id = $1`,
);

/** Deletes families without tokens and keys, so that repeated consents do not accumulate rows. */
const deleteDeadFamilies = command<never>(
  'oauth_token_family_delete_dead',
  `delete from oauth_token_family f where grant_id = $1
     and not exists (select from oauth_token t where t.family_id = f.id)
     and not exists (select from api_key k where k.oauth_family_id = f.id and k.revoked_at is null)`,
);

const consumeCode = command<{ id: string }>(
  'oauth_token_consume_code',
  `update oauth_token set consumed_at = clock_timestamp(), grant_id = $2
   where token_hash = $1 and consumed_at is null returning token_hash as id`,
);

const consume = async (tx: Change, tokenHash: Buffer, grantId: string): Promise<boolean> =>
  (await tx.run([[consumeCode, [tokenHash, grantId]]]))[0].length > 0;

const toEventFields = (consent: Consent, grantId: string) => ({
  accountId: consent.account_id,
  clientId: consent.client_id,
  teamId: consent.team_id,
  grantId,
  scopes: consent.scopes,
});
