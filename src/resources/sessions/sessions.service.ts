import type { Database } from '../../db/database.ts';
import { ProblemError } from '../../errors.ts';
import { record, recordedCommand, runAndRecord } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Principal } from '../../auth/principal.ts';
import { openSession as isOpen } from '../../db/predicates.ts';
import { type Account, Session } from '../../entities/index.ts';
import { notify } from '../../jobs/notify.ts';
import type { Services } from '../../app-services.ts';
import { lockMany } from '../../transactions/locks.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { DAY_MS } from '../../time.ts';
import { rememberDevice } from './known-devices.ts';

/** The account and method of a sign-in. The session of `replaced`, the caller, is revoked. */
type SignIn = {
  readonly account: Account;
  readonly authenticationType: 'password' | 'passkey' | 'invitation' | 'email_link';
  readonly browserClient: BrowserClient;
  readonly replaced: Principal | null;
};

/** A new session. Set its cookies after the transaction has committed. */
export type StartedSession = { readonly token: string; readonly expiresAt: Date; readonly deviceToken: string };

/**
 * Creates a session with a new token, and makes the browser a known one. The account is notified of new browsers,
 * except the first.
 */
export async function startSession(tx: EntityManager, services: Services, signIn: SignIn): Promise<StartedSession> {
  const { account, authenticationType, browserClient, replaced } = signIn;
  const { tokens, config } = services;
  await revokeReplacedSession(tx, replaced);

  const { secret: token, hash: tokenHash } = tokens.generate('session');
  const now = Date.now();
  const expiresAt = new Date(now + config.sessionDays * DAY_MS);
  const idleExpiresAt = new Date(Math.min(now + config.sessionIdleDays * DAY_MS, expiresAt.getTime()));
  const { device: software, location } = browserClient;
  const { id: sessionId } = tx.create(Session, {
    account,
    tokenHash,
    authenticationType,
    ...location,
    ...software,
    expiresAt,
    idleExpiresAt,
    provenAt: new Date(now),
  });
  record(tx, 'session.created', { accountId: account.id, sessionId, method: authenticationType });

  const device = await rememberDevice(tx, account, browserClient);
  if (device.isNew && !device.isFirst) await notifyOfNewDevice(tx, signIn);
  await tx.flush();
  return { token, expiresAt, deviceToken: device.token };
}

/** Sets the cookies of a committed session. */
export function openSession(browserClient: BrowserClient, { token, expiresAt, deviceToken }: StartedSession): void {
  browserClient.setSession(token, expiresAt);
  browserClient.setDevice(deviceToken);
}

/** Revokes the session that a sign-in replaces. Call it before later locks of the sign-in: see LOCK_ORDER. */
export async function revokeReplacedSession(tx: EntityManager, replaced: Principal | null): Promise<void> {
  if (replaced?.kind === 'session') await revokeSessions(tx, { id: replaced.credentialId }, 'signed in again');
}

type SessionFilter = { readonly id: string } | { readonly account: string; readonly except?: string };

/** Revokes one session, or all of an account except one. @returns the number of revoked sessions */
export async function revokeSessions(tx: EntityManager, which: SessionFilter, reason: string): Promise<number> {
  const filter =
    'id' in which
      ? { id: which.id }
      : { account: which.account, ...(which.except === undefined ? {} : { id: { $ne: which.except } }) };
  const locked = await lockMany(tx, 'session', { ...filter, revokedAt: null });
  if (locked.length === 0) return 0;
  const ended = await tx.execute<{ id: string; account_id: string }[]>(
    `update session s set revoked_at = now()
     where id = any(string_to_array(?, ' ')) and ${isOpen('s')}
     returning id, account_id`,
    [locked.map(({ id }) => id).join(' ')],
  );
  for (const { id: sessionId, account_id: accountId } of ended) {
    record(tx, 'session.ended', { accountId, sessionId, reason });
  }
  return ended.length;
}

const markProven = recordedCommand<{ id: string }>(
  'mark_session_proven',
  `update session set proven_at = now() where id = $1 and revoked_at is null returning id`,
  'session.proven',
);

/** Records that the user of a session has just re-authenticated. @throws credential_invalid if the session was revoked */
export async function setProven(db: Database, { credentialId, accountId }: Principal, method: string): Promise<void> {
  const fields = { accountId, sessionId: credentialId, method };
  const [row] = await runAndRecord(db, markProven, [credentialId], fields);
  // A password change revokes all sessions, so a proof by the old password fails here.
  if (row === undefined) throw new ProblemError('credential_invalid');
}

/** Enqueues a notice about a new browser, with its location and the time. */
async function notifyOfNewDevice(tx: EntityManager, { account, browserClient }: SignIn): Promise<void> {
  const { browser, os } = browserClient.device;
  const at = new Date().toISOString();
  await notify(tx, account.id, { kind: 'new_device', browser, os, ...browserClient.location, at });
}
