import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { liveApiKey, liveGrant } from '../../db/predicates.ts';
import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import { Passkey } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { notify } from '../../jobs/notify.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { HOUR_MS } from '../../time.ts';
import { deletePendingConsents, revokeApiKeys, revokeGrants } from '../../transactions/revocation.ts';
import { change } from '../../transactions/change.ts';
import type { Change } from '../../transactions/steps.ts';
import { deleteTokens } from '../accounts/email-link-token.ts';
import { forgetDevices } from '../sessions/known-devices.ts';
import { revokeSessions } from '../sessions/sessions.service.ts';
import { findLink } from '../../rate-limit/link-attempts.ts';

type Row = {
  kind: 'passkey' | 'api_key' | 'connected_app';
  id: string;
  name: string;
  created_at: string;
  last_used_at: string | null;
};

// Keys that an app created are revoked with the app. First-party apps have access through sessions, which have ended.
const accessOfAccount = query<Row>(
  'account_list_remaining_access',
  `select 'passkey' as kind, p.id, p.name, p.created_at, p.last_used_at from passkey p where p.account_id = $1
   union all
   select 'api_key', k.id, k.name, k.created_at, k.last_used_at from api_key k
   where k.account_id = $1 and k.oauth_grant_id is null and ${liveApiKey('k')}
   union all
   select 'connected_app', g.id, c.name, g.created_at, g.last_used_at
   from oauth_grant g join oauth_client c on c.id = g.client_id
   where g.account_id = $1 and ${liveGrant('g')} and not c.is_first_party
   order by created_at desc, id desc`,
);

/** Lists the passkeys, API keys and connected apps of an account, newest first. */
export async function listRemainingAccess(db: QueryRunner, accountId: string) {
  const rows = await db.query(accessOfAccount, [accountId]);
  return rows.map(({ created_at: createdAt, last_used_at: lastUsedAt, ...row }) => ({
    ...row,
    createdAt: iso(createdAt),
    lastUsedAt: isoOrNull(lastUsedAt),
  }));
}

const PURPOSE = 'revoke access after reset';
const REASONS = ['password reset', 'password changed', 'email verified'] as const;
type Reason = (typeof REASONS)[number];
/** The time in which the page after that can revoke the remaining access. */
const VALID_MS = HOUR_MS;

/**
 * Creates the token with which the page after a reset or change of the password revokes the remaining access. It is not
 * stored.
 */
export const createRevocationToken = ({ encryption }: Services, accountId: string, reason: Reason): string =>
  encryption.encrypt(JSON.stringify({ purpose: PURPOSE, accountId, resetAt: Date.now(), reason }));

/**
 * Returns what still gives access to an account whose password was set anew, or which proved the address to which the
 * operator moved it, and the token that revokes all of it.
 */
export const offerRevocation = async (services: Services, accountId: string, reason: Reason) => ({
  access: await listRemainingAccess(services.db, accountId),
  revocationToken: createRevocationToken(services, accountId, reason),
});

export type RemainingAccess = Awaited<ReturnType<typeof offerRevocation>>;

/**
 * Revokes all passkeys, API keys and grants of the account, and all sessions except the caller's. This includes access
 * obtained since then, because a key can create keys, and a passkey can sign in and change the email address.
 * @throws link_invalid also for a token of another page than that of a reset without a session of the account: it has one,
 * and who was signed out since then, such as by a reset, must not end what the owner has.
 */
export async function revokeRemainingAccess(
  services: Services,
  browserClient: BrowserClient,
  caller: Principal | null,
  token: string,
): Promise<void> {
  const { accountId, reason } = await findLink(
    browserClient,
    Promise.resolve().then(() => parseToken(services, token)),
  );
  const own = caller?.kind === 'session' && caller.accountId === accountId ? caller : null;
  if (own === null && reason !== 'password reset') throw new ProblemError('link_invalid');
  const on = { account: accountId };
  const changeAccount = (work: (opened: Change) => Promise<void>) =>
    own === null
      ? change(services.db, 'visitor', { on, requires: 'nothing' }, (opened) => {
          if (opened.account === null) throw new ProblemError('credential_invalid');
          return work(opened);
        })
      : change(services.db, own, { on, requires: 'self' }, work);
  await changeAccount(async (tx) => {
    const others = own === null ? {} : { except: own.credentialId };
    await revokeSessions(tx, { account: accountId, ...others }, reason);
    forgetDevices(tx, accountId, browserClient);
    deleteTokens(tx, accountId, ['change_email']);
    await revokeGrants(tx, { account: accountId }, reason);
    deletePendingConsents(tx, { account: accountId });
    await revokeApiKeys(tx, { account: accountId }, reason);
    for (const passkey of await tx.em.find(Passkey, { account: accountId }, { orderBy: { id: 'asc' } })) {
      tx.em.remove(passkey);
      tx.record('passkey.removed', { accountId, passkeyId: passkey.id, reason });
    }
    await notify(tx, accountId, { kind: 'access_revoked' });
  });
}

function parseToken({ encryption }: Services, token: string): { accountId: string; reason: Reason } {
  try {
    const { purpose, accountId, resetAt, reason } = JSON.parse(encryption.decrypt(token)) as Record<string, unknown>;
    if (purpose === PURPOSE && typeof accountId === 'string' && Number(resetAt) > Date.now() - VALID_MS) {
      return { accountId, reason: REASONS.find((known) => known === reason) ?? 'password reset' };
    }
  } catch {
    // The token is invalid; see below.
  }
  throw new ProblemError('link_invalid');
}
