import type { Attempts } from '../rate-limit/attempts.ts';

/**
 * Somebody at a browser, as far as a call over tRPC shows it. Procedures that make, change or end
 * sessions need one; over REST there is none.
 */
export type BrowserClient = {
  /** The rate limit's bucket of the client address. */
  readonly addressBucket: string;
  /** The windows that guesses are counted in. */
  readonly attempts: Attempts;
  readonly device: { readonly browser: string | null; readonly os: string | null; readonly deviceType: string | null };
  /** Where the address is, if a trusted proxy or a database of the operator says so. */
  readonly location: { readonly country: string | null; readonly city: string | null };
  /** The token of a browser that has signed in before. */
  readonly deviceToken: string | undefined;
  /** The token of a browser that an authorization request began in. */
  readonly browserToken: string | undefined;
  setSession(token: string, expiresAt: Date): void;
  clearSession(): void;
  setDevice(token: string): void;
};
