import { hash } from 'node:crypto';
import { ProblemError } from '../problems/error.ts';
import type { Limiter } from './limiter.ts';

/** Counts attempts in fixed windows, one for each bucket. */
export type Counter = {
  consume(bucket: string): Promise<{ readonly allowed: boolean; readonly resetSeconds: number }>;
  refund(bucket: string): Promise<void>;
};

/** The counters that limit guessing, by client address and by account. */
export type Attempts = {
  readonly byAddress: Counter;
  readonly byAccount: Counter;
  /** Requests to the authorization server, by client address or token, or by client of the operator that authenticates. */
  readonly oauthByAddress: Pick<Limiter, 'consume' | 'refund'>;
  readonly oauthByClient: Counter;
  /** Wrong secrets of OAuth clients, by client address above its limit. */
  readonly refusedSecrets: Pick<Limiter, 'consume' | 'peek'>;
  /** Registrations of OAuth clients, by client address. */
  readonly registrations: Counter;
  readonly refusedRegistrations: Counter;
  /** Reports of leaked secrets, by client address. */
  readonly leaks: Counter;
  /** Pictures that are set, by account. */
  readonly pictures: Counter;
  /** DPoP proofs, each valid once; null if DPoP is off. */
  readonly proofs: Counter | null;
  /** Whether all replicas count together, through Redis; null if none is configured. */
  isShared(): Promise<boolean | null>;
};

export type AttemptLimit = { readonly counter: Counter; readonly name: string };

/** What counts attempts of a browser. */
export type AttemptClient = { readonly attempts: Attempts; readonly addressBucket: string };

/**
 * What is attempted. `deviceId` is the known browser of the account, and null in a browser that the account does not know;
 * `invitationId` is the invitation whose emailed link the sign-up has.
 */
export type Attempt =
  | { readonly kind: 'password'; readonly email: string; readonly deviceId: string | null }
  | { readonly kind: 'passkey'; readonly deviceId: string | null }
  | { readonly kind: 'mail'; readonly deviceId: string | null }
  | { readonly kind: 'email-change'; readonly accountId: string }
  | { readonly kind: 'sign-up'; readonly invitationId: string | null }
  | { readonly kind: 'sign-up-password'; readonly signUpId: string }
  | { readonly kind: 'proof'; readonly sessionId: string }
  | { readonly kind: 'invalid-link' };

/**
 * Counts an attempt before it is made, so that concurrent attempts count too. The owner always gets in: whoever shows that
 * an account, a session, a sign-up or an invitation is theirs has a limit of their own. Only what everybody can attempt is
 * limited by client address or email address, which strangers can use up.
 * @returns what refunds the attempt if it succeeds
 * @throws rate_limited (429) if a limit is reached
 */
export async function countAttempt(client: AttemptClient, attempt: Attempt): Promise<{ refund(): Promise<void> }> {
  const limits = limitsOf(client, attempt);
  for (const limit of limits) await consumeAttempt(limit);
  return {
    async refund() {
      for (const limit of limits) await refundAttempt(limit);
    },
  };
}

function limitsOf({ attempts, addressBucket }: AttemptClient, attempt: Attempt): readonly AttemptLimit[] {
  const shared = (kind: string): AttemptLimit => ({ counter: attempts.byAddress, name: `${kind}:${addressBucket}` });
  const own = (kind: string, id: string): AttemptLimit => ({ counter: attempts.byAccount, name: `${kind}:${id}` });
  switch (attempt.kind) {
    case 'password':
      // All unknown browsers share the second limit, whether or not the account exists.
      return attempt.deviceId === null
        ? [shared('sign-in'), own('guess', hash('sha256', attempt.email.toLowerCase()))]
        : [own('guess', attempt.deviceId)];
    case 'passkey':
      return [attempt.deviceId === null ? shared('sign-in') : own('passkey', attempt.deviceId)];
    case 'mail':
      return [attempt.deviceId === null ? shared('mail') : own('mail', attempt.deviceId)];
    case 'email-change':
      return [own('mail', attempt.accountId)];
    case 'sign-up':
      return [attempt.invitationId === null ? shared('sign-up') : own('sign-up', attempt.invitationId)];
    case 'sign-up-password':
      return [own('guess', attempt.signUpId)];
    case 'proof':
      return [own('guess', attempt.sessionId)];
    case 'invalid-link':
      return [shared('link')];
  }
}

/** Counts toward a limit. @throws rate_limited (429) if it is reached */
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
