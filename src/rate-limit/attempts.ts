import { hash } from 'node:crypto';
import { ProblemError } from '../errors.ts';

/** A number of attempts in a window, for each bucket. */
export type Counter = {
  charge(bucket: string): Promise<{ readonly allowed: boolean; readonly resetSeconds: number }>;
  refund(bucket: string): Promise<void>;
};

/** What bounds guessing: attempts from one address, and attempts at one account. */
export type Attempts = {
  readonly byAddress: Counter;
  readonly byAccount: Counter;
  /** Requests to the authorization server, by address and by clients that prove a secret. */
  readonly oauthByAddress: Counter;
  readonly oauthByClient: Counter;
  /** The proofs of keys, each of which is good once; null without DPoP. */
  readonly proofs: Counter | null;
  /** Whether all replicas count together, through Redis; null where none is configured. */
  isShared(): Promise<boolean | null>;
};

/**
 * What people do without a credential, each with a window of its own: `link` uses one of a mail,
 * `mail` asks for one, `registration` makes an OAuth client.
 */
type Deed = 'sign-in' | 'sign-up' | 'mail' | 'link' | 'registration';

type Bucket = { readonly counter: Counter; readonly name: string };

/** The window of a client address for one deed. */
export const addressWindow = ({ byAddress }: Attempts, deed: Deed, addressBucket: string): Bucket => ({
  counter: byAddress,
  name: `${deed}:${addressBucket}`,
});

/** Who guesses a password: a stranger at an address, or somebody in a browser or a session that is known. */
type Guesser = { readonly email: string } | { readonly deviceId: string } | { readonly sessionId: string };

/**
 * The window of guesses at an account: one for all strangers together, whether there is such an
 * account or not, and one for each browser and session of the account's own. So strangers use up
 * theirs alone, and never keep the owner out.
 */
export function guessWindow({ byAccount }: Attempts, guesser: Guesser): Bucket {
  return { counter: byAccount, name: `guess:${nameOf(guesser)}` };
}

function nameOf(guesser: Guesser): string {
  if ('deviceId' in guesser) return guesser.deviceId;
  return 'sessionId' in guesser ? guesser.sessionId : hash('sha256', guesser.email.toLowerCase());
}

/** Counts an attempt before it is made, so that many at once count too; 429 where the window is used up. */
export async function attempt({ counter, name }: Bucket): Promise<void> {
  const { allowed, resetSeconds } = await counter.charge(name);
  if (!allowed)
    throw new ProblemError('rate_limited', 'Too many attempts.', {
      retryAfter: resetSeconds,
      refused: 'attempts.throttled',
    });
}

/** Takes an attempt back that was no guess. */
export const forgive = ({ counter, name }: Bucket): Promise<void> => counter.refund(name);
