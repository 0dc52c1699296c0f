import { hash } from 'node:crypto';
import { ProblemError } from '../errors.ts';

/** Counts attempts in fixed windows, one for each bucket. */
export type Counter = {
  consume(bucket: string): Promise<{ readonly allowed: boolean; readonly resetSeconds: number }>;
  refund(bucket: string): Promise<void>;
};

/** The counters that limit guessing, by client address and by account. */
export type Attempts = {
  readonly byAddress: Counter;
  readonly byAccount: Counter;
  /** Requests to the authorization server, by client address and by clients that authenticate. */
  readonly oauthByAddress: Counter;
  readonly oauthByClient: Counter;
  /** Registrations of OAuth clients, by client address. */
  readonly registrations: Counter;
  /** Reports of leaked secrets, by client address. */
  readonly leaks: Counter;
  /** Pictures that are set, by account. */
  readonly pictures: Counter;
  /** DPoP proofs, each valid once; null if DPoP is off. */
  readonly proofs: Counter | null;
  /** Whether all replicas count together, through Redis; null if none is configured. */
  isShared(): Promise<boolean | null>;
};

/**
 * Actions without a credential, each with a limit of its own: `link` follows an emailed link,
 * `mail` requests one.
 */
type AttemptKind = 'sign-in' | 'sign-up' | 'mail' | 'link';

export type AttemptLimit = { readonly counter: Counter; readonly name: string };

/** Limits one action of a client address. */
export const addressAttemptLimit = (
  { byAddress }: Attempts,
  kind: AttemptKind,
  addressBucket: string,
): AttemptLimit => ({
  counter: byAddress,
  name: `${kind}:${addressBucket}`,
});

/**
 * Limits requests for an emailed link: by known browser, or else by client address, so that
 * other clients of the address cannot use up the limit of the account's owner.
 */
export const mailAttemptLimit = (attempts: Attempts, addressBucket: string, deviceId: string | null): AttemptLimit =>
  deviceId === null
    ? addressAttemptLimit(attempts, 'mail', addressBucket)
    : { counter: attempts.byAccount, name: `mail:${deviceId}` };

/** The source of a password attempt: an unknown browser (counted per email), a known one, a session, or the browser of a sign-up. */
type AttemptSource =
  | { readonly email: string }
  | { readonly deviceId: string }
  | { readonly sessionId: string }
  | { readonly signUpId: string };

/**
 * Limits password attempts at an account: all unknown browsers share one limit, whether or not the
 * account exists; each known browser and each session has its own. So attackers cannot use up the owner's.
 */
export function passwordAttemptLimit({ byAccount }: Attempts, source: AttemptSource): AttemptLimit {
  return { counter: byAccount, name: `guess:${toBucketName(source)}` };
}

function toBucketName(source: AttemptSource): string {
  if ('deviceId' in source) return source.deviceId;
  if ('signUpId' in source) return source.signUpId;
  return 'sessionId' in source ? source.sessionId : hash('sha256', source.email.toLowerCase());
}

/**
 * Counts an attempt before it is made, so that concurrent attempts count too.
 * @throws rate_limited (429) if the limit is reached
 */
export async function consumeAttempt({ counter, name }: AttemptLimit): Promise<void> {
  const { allowed, resetSeconds } = await counter.consume(name);
  if (!allowed)
    throw new ProblemError('rate_limited', 'Too many attempts.', {
      retryAfter: resetSeconds,
      denial: 'attempts.throttled',
    });
}

/** Refunds an attempt that succeeded. */
export const refundAttempt = ({ counter, name }: AttemptLimit): Promise<void> => counter.refund(name);
