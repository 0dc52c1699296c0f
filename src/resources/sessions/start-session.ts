import type { Services } from '../../service/services.ts';
import { proveAll } from '../../auth/session-proofs.ts';
import type { Tokens } from '../../crypto/tokens.ts';
import { type Account, type ProofMethod, type Proofs, Session } from '../../entities/index.ts';
import { notify } from '../../jobs/notify.ts';
import type { AuthenticatingBrowser, BrowserClient } from '../../procedures/browser-client.ts';
import { addDays } from '../../time.ts';
import type { Change } from '../../transactions/steps.ts';
import { rememberDevice } from './known-devices.ts';
import { longestSession } from './longest-session.ts';
import type { AuthenticationType, EndedSession } from './sessions.service.ts';

type NewSession = {
  readonly account: Account;
  readonly authenticationType: AuthenticationType | null;
  readonly proofs: Proofs;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly idleExpiresAt: Date;
} & BrowserClient['device'] &
  BrowserClient['location'];

/** Creates a session with a new token. Nothing else inserts sessions. The caller decides that the account can sign in. */
export function createSession(tx: Change, tokens: Tokens, { proofs, ...session }: NewSession) {
  const { secret: token, hash: tokenHash } = tokens.generate('session');
  const times = Object.values(proofs).map((at) => Date.parse(at));
  const provenAt = times.length === 0 ? null : new Date(Math.max(...times));
  const { id } = tx.em.create(Session, { ...session, tokenHash, proofs, provenAt });
  return { id, token };
}

/** The account and what the sign-in proved. */
type SignIn = {
  readonly account: Account;
  /** Null if the session continues one, which keeps how it began. */
  readonly authenticationType: AuthenticationType | null;
  /** All methods by which this sign-in proved who the user is. */
  readonly proved: readonly ProofMethod[];
  readonly browserClient: AuthenticatingBrowser;
  /** The session that the browser had. Of the same account, what it proved still counts, from its times. */
  readonly continued: EndedSession | null;
};

/**
 * A new session. Set its cookies after the transaction has committed: `expiresAt` is their end, and that of the session is
 * decided by the database.
 */
export type StartedSession = { readonly token: string; readonly expiresAt: Date; readonly deviceToken: string };

/**
 * Signs an account in: creates a session with a new token, and makes the browser a known one. The account is notified of
 * new browsers, except of the first if an emailed link signed it in.
 */
export async function startSession(tx: Change, services: Services, signIn: SignIn): Promise<StartedSession> {
  const { account, proved, browserClient, continued } = signIn;
  const authenticationType = signIn.authenticationType ?? continued?.authenticationType ?? null;
  const { tokens, config } = services;
  // An application can prolong the session later, when no browser is there to get another cookie.
  const { days: cookieDays, now } = await longestSession(tx.run, config.sessionDays);
  const earlier = continued?.accountId === account.id ? continued.proofs : {};
  const proofs = { ...earlier, ...proveAll(proved, now) };
  const { id: sessionId, token } = createSession(tx, tokens, {
    account,
    authenticationType,
    proofs,
    ...browserClient.location,
    ...browserClient.device,
    createdAt: now,
    expiresAt: addDays(now, config.sessionDays),
    idleExpiresAt: addDays(now, Math.min(config.sessionIdleDays, config.sessionDays)),
  });
  const methods = Object.keys(proofs);
  tx.record('session.created', {
    accountId: account.id,
    sessionId,
    ...(authenticationType !== null && { method: authenticationType }),
    methods,
  });

  const device = await rememberDevice(tx, account, browserClient);
  // Whoever opened an emailed link is the one who would read the notice.
  const provesMailbox = device.isFirst && proved.includes('link');
  if (device.isNew && !provesMailbox) await notifyOfNewDevice(tx, signIn);
  return { token, expiresAt: addDays(now, cookieDays), deviceToken: device.token };
}

/** Sets the cookies of a committed session. */
export function setSessionCookies(
  browserClient: AuthenticatingBrowser,
  { token, expiresAt, deviceToken }: StartedSession,
): void {
  browserClient.setSession(token, expiresAt);
  browserClient.setDevice(deviceToken);
}

/** Enqueues a notice about a new browser, with its location and the time. */
async function notifyOfNewDevice(tx: Change, { account, browserClient }: SignIn): Promise<void> {
  const { browser, os } = browserClient.device;
  const at = new Date().toISOString();
  await notify(tx, account.id, { kind: 'new_device', browser, os, ...browserClient.location, at });
}
