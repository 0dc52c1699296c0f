import type { Language } from '../messages/languages.ts';
import type { Attempts } from '../rate-limit/attempts.ts';

/**
 * The browser that sent a tRPC call. Procedures that create, change or revoke sessions require one; over REST there
 * is none.
 */
export type BrowserClient = {
  /** The rate limit bucket of the client's IP address. */
  readonly addressBucket: string;
  /** The limiters of attempts. */
  readonly attempts: Attempts;
  readonly device: { readonly browser: string | null; readonly os: string | null; readonly deviceType: string | null };
  /** The location of the IP address, if a trusted proxy or the operator's database knows it. */
  readonly location: { readonly country: string | null; readonly city: string | null };
  /** The language of messages that the browser prefers. It never selects that of a security notice. */
  readonly language: Language | null;
  /** The token of a known browser. */
  readonly deviceToken: string | undefined;
  /** The token of a browser that started an authorization request. */
  readonly browserToken: string | undefined;
  clearSession(): void;
  setDevice(token: string): void;
};

/**
 * The browser of a procedure that authenticates its user, which its builder declares: `authenticates` in its metadata.
 * Whatever starts a session or adds a proof to one requires it, so no other procedure can.
 */
export type AuthenticatingBrowser = BrowserClient & { setSession(token: string, expiresAt: Date): void };
