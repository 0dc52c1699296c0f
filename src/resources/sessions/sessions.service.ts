import { randomBytes } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import { ProblemError } from '../../errors.ts';
import { record, recordedCommand, runAndRecord } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Principal } from '../../auth/principal.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { openSession as isOpen } from '../../db/predicates.ts';
import { type Account, KnownDevice, Session } from '../../entities/index.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import type { Services } from '../../app-services.ts';
import { lockMany } from '../../transactions/locks.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { DAY_MS } from '../../time.ts';

const DEVICE_TOKEN_BYTES = 32;

/** Who signs in and how. `replaced` is the principal of the call: its session ends with this one's beginning. */
type SignIn = {
  readonly account: Account;
  readonly authenticationType: 'password' | 'passkey' | 'invitation';
  readonly browserClient: BrowserClient;
  readonly replaced: Principal | null;
};

/** A session that has begun; its cookies are set once the transaction has committed. */
export type StartedSession = { readonly token: string; readonly expiresAt: Date; readonly deviceToken: string };

/**
 * Begins a session under a new token, whatever session the browser had before. A browser that the
 * account has not signed in from is told of by mail, but for the account's first one.
 */
export async function startSession(tx: EntityManager, services: Services, signIn: SignIn): Promise<StartedSession> {
  const { account, authenticationType, browserClient, replaced } = signIn;
  const { secrets, config } = services;
  if (replaced?.kind === 'session') await endSessions(tx, { id: replaced.credentialId }, 'signed in again');

  const { secret: token, hash: tokenHash } = secrets.mint('session');
  const now = Date.now();
  const expiresAt = new Date(now + config.sessionDays * DAY_MS);
  const idleExpiresAt = new Date(Math.min(now + config.sessionIdleDays * DAY_MS, expiresAt.getTime()));
  const { device, location } = browserClient;
  const { id: sessionId } = tx.create(Session, {
    account,
    tokenHash,
    authenticationType,
    ...location,
    ...device,
    expiresAt,
    idleExpiresAt,
    provenAt: new Date(now),
  });
  record(tx, 'session.began', { accountId: account.id, sessionId, method: authenticationType });

  const deviceToken = await rememberDevice(tx, signIn);
  await tx.flush();
  return { token, expiresAt, deviceToken };
}

/** Hands a session that has been committed to the browser. */
export function openSession(browserClient: BrowserClient, { token, expiresAt, deviceToken }: StartedSession): void {
  browserClient.setSession(token, expiresAt);
  browserClient.setDevice(deviceToken);
}

type EndedSessions = { readonly id: string } | { readonly account: string; readonly except?: string };

/** Ends one session, or the account's but for `except`. @returns how many were active */
export async function endSessions(tx: EntityManager, which: EndedSessions, reason: string): Promise<number> {
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

/** Notes that the user has just proven who they are in this session. */
export async function setProven(db: Database, { credentialId, accountId }: Principal, method: string): Promise<void> {
  const fields = { accountId, sessionId: credentialId, method };
  const [row] = await runAndRecord(db, markProven, [credentialId], fields);
  // A password change revokes all sessions, so a proof by the old password fails here.
  if (row === undefined) throw new ProblemError('credential_invalid');
}

/** Whether the account has signed in from this browser before. */
export async function isKnownDevice(
  em: EntityManager,
  accountId: string,
  { deviceToken }: BrowserClient,
): Promise<boolean> {
  return (
    deviceToken !== undefined &&
    (await em.count(KnownDevice, { account: accountId, tokenHash: hashSecret(deviceToken) })) > 0
  );
}

async function rememberDevice(tx: EntityManager, { account, browserClient }: SignIn): Promise<string> {
  const deviceToken = browserClient.deviceToken ?? randomBytes(DEVICE_TOKEN_BYTES).toString('base64url');
  const lastSeenAt = new Date();
  const known = await tx.findOne(KnownDevice, { account: account.id, tokenHash: hashSecret(deviceToken) });
  if (known !== null) {
    known.lastSeenAt = lastSeenAt;
    return deviceToken;
  }
  const isFirst = (await tx.count(KnownDevice, { account: account.id })) === 0;
  tx.create(KnownDevice, { account, tokenHash: hashSecret(deviceToken), lastSeenAt });
  if (!isFirst && account.email) {
    const { browser, os } = browserClient.device;
    const mail = {
      kind: 'new_device' as const,
      accountId: account.id,
      to: account.email,
      browser,
      os,
      ...browserClient.location,
      at: lastSeenAt.toISOString(),
    };
    await enqueue(
      tx,
      'sendAccountMail',
      mail,
      `new-device:${account.id}:${hashSecret(deviceToken).toString('hex').slice(0, 16)}`,
    );
  }
  return deviceToken;
}
