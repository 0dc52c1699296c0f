import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../app-services.ts';
import type { Principal } from '../../auth/principal.ts';
import { liveApiKey, liveGrant } from '../../db/predicates.ts';
import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import { Passkey } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { record } from '../../events/record.ts';
import { notify } from '../../jobs/notify.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { HOUR_MS } from '../../time.ts';
import { deletePendingConsents, revokeApiKeys, revokeGrants } from '../../transactions/revocation.ts';
import { transaction } from '../../transactions/transaction.ts';
import { lockAccount } from '../../transactions/with-account.ts';
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

// Keys that an app created are revoked with the app.
const accessOfAccount = query<Row>(
  'remaining_access',
  `select 'passkey' as kind, p.id, p.name, p.created_at, p.last_used_at from passkey p where p.account_id = $1
   union all
   select 'api_key', k.id, k.name, k.created_at, k.last_used_at from api_key k
   where k.account_id = $1 and k.oauth_grant_id is null and ${liveApiKey('k')}
   union all
   select 'connected_app', g.id, c.name, g.created_at, g.last_used_at
   from oauth_grant g join oauth_client c on c.id = g.client_id
   where g.account_id = $1 and ${liveGrant('g')}
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
const REASON = 'password reset';
/** The time in which the last page of a reset can revoke the remaining access. */
const VALID_MS = HOUR_MS;

/** Creates the token with which the last page of a reset revokes the remaining access. It is not stored. */
export const createRevocationToken = ({ encryption }: Services, accountId: string): string =>
  encryption.encrypt(JSON.stringify({ purpose: PURPOSE, accountId, resetAt: Date.now() }));

/**
 * Revokes all passkeys, API keys and grants of the account, and all sessions except the caller's. This includes access
 * obtained since the reset, because a key can create keys, and a passkey can sign in and change the email address.
 */
export async function revokeRemainingAccess(
  services: Services,
  browserClient: BrowserClient,
  caller: Principal | null,
  token: string,
): Promise<void> {
  const accountId = await findLink(
    browserClient,
    Promise.resolve().then(() => parseToken(services, token)),
  );
  await transaction(services.db, async (tx) => {
    await lockAccount(tx, accountId);
    const own = caller?.kind === 'session' && caller.accountId === accountId ? { except: caller.credentialId } : {};
    await revokeSessions(tx, { account: accountId, ...own }, REASON);
    await forgetDevices(tx, accountId, browserClient);
    await deleteTokens(tx, accountId, ['change_email']);
    await revokeGrants(tx, { account: accountId }, REASON);
    await deletePendingConsents(tx, { account: accountId });
    await revokeApiKeys(tx, { account: accountId }, REASON);
    await deletePasskeys(tx, accountId);
    await notify(tx, accountId, { kind: 'access_revoked' });
  });
}

/** @returns the id of the account */
function parseToken({ encryption }: Services, token: string): string {
  try {
    const { purpose, accountId, resetAt } = JSON.parse(encryption.decrypt(token)) as Record<string, unknown>;
    if (purpose === PURPOSE && typeof accountId === 'string' && Number(resetAt) > Date.now() - VALID_MS) {
      return accountId;
    }
  } catch {
    // The token is invalid; see below.
  }
  throw new ProblemError('link_invalid');
}

async function deletePasskeys(tx: EntityManager, accountId: string): Promise<void> {
  const passkeys = await tx.find(Passkey, { account: accountId }, { orderBy: { id: 'asc' } });
  for (const passkey of passkeys) {
    tx.remove(passkey);
    record(tx, 'passkey.removed', { accountId, passkeyId: passkey.id, reason: REASON });
  }
}
