import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { query } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';

type Row = {
  attempt_id: string | null;
  account_id: string;
  email: string;
  password_hash: string | null;
  browser_hash: string | null;
  client_id: string | null;
  is_moved: boolean;
  is_known: boolean;
};

/** The target of a valid verification link: a sign-up, or an account whose email address is not verified. */
export type VerificationTarget = {
  /** Null for the link of an account. */
  readonly attemptId: string | null;
  readonly accountId: string;
  readonly email: string;
  readonly passwordHash: string | null;
  /**
   * Whether the link was opened in the browser that signed up, or in one that is signed in to the account, or known to one
   * that the operator moved.
   */
  readonly isSameBrowser: boolean;
  /** Whether the operator moved the account to the address, which by itself gives no access to it. */
  readonly isMoved: boolean;
  /** The application at which the sign-up, or the request for the link, began. */
  readonly clientId: string | null;
};

const findTarget = query<Row>(
  'sign_up_attempt_find',
  `select id as attempt_id, account_id, email, password_hash, encode(browser_hash, 'hex') as browser_hash, client_id,
     false as is_moved, false as is_known
   from sign_up_attempt where token_hash = $1 and expires_at > now()
   union all
   select null, a.id, t.email, a.password_hash, null, t.client_id, a.proven_email is not null,
     exists (select from known_device d where d.account_id = a.id and d.token_hash = $2)
   from account_token t join account a on a.id = t.account_id
   where t.token_hash = $1 and t.purpose = 'verify_email' and t.expires_at > now()
     and a.disabled_at is null and a.email_verified_at is null and lower(a.email) = lower(t.email)`,
);

const verifiedAddress = query<{ email: string }>(
  'account_find_verified_address',
  'select email from account where id = $1 and email_verified_at is not null',
);

/** Returns the verified address of the session that opens a link with the form of a verification link; null otherwise. */
export async function findVerifiedAddress(
  { db, tokens }: Services,
  principal: Principal | null,
  token: string,
): Promise<string | null> {
  if (principal?.kind !== 'session' || tokens.parseKind(token) !== 'emailVerification') return null;
  const [row] = await db.query(verifiedAddress, [principal.accountId]);
  return row?.email ?? null;
}

/** @throws link_invalid (404) for a link that was used, has expired or is unknown */
export async function findVerificationTarget(
  { db, tokens }: Services,
  { deviceToken }: BrowserClient,
  principal: Principal | null,
  token: string,
): Promise<VerificationTarget> {
  if (tokens.parseKind(token) !== 'emailVerification') throw new ProblemError('link_invalid');
  const deviceHash = deviceToken === undefined ? null : hashSecret(deviceToken);
  const [row] = await db.query(findTarget, [hashSecret(token), deviceHash]);
  if (row === undefined) throw new ProblemError('link_invalid');
  const isOfBrowser = row.browser_hash !== null && row.browser_hash === deviceHash?.toString('hex');
  const isSignedIn = row.attempt_id === null && principal?.kind === 'session' && principal.accountId === row.account_id;
  return {
    attemptId: row.attempt_id,
    accountId: row.account_id,
    email: row.email,
    passwordHash: row.password_hash,
    clientId: row.client_id,
    isMoved: row.is_moved,
    isSameBrowser: row.is_moved
      ? isSignedIn || row.is_known
      : isOfBrowser || (isSignedIn && row.password_hash !== null),
  };
}
