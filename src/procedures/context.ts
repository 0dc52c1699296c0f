import type { Services } from '../app-services.ts';
import type { Authentication } from '../auth/authenticate.ts';
import type { ActiveMembership } from '../auth/principal.ts';
import type { ProblemError } from '../errors.ts';
import type { BrowserClient } from './browser-client.ts';

/** What a procedure gets of one call, however it came in. */
export type Context = {
  readonly services: Services;
  readonly requestId: string;
  /** Of the client, as far as proxies are believed. */
  readonly address: string;
  readonly authentication: Authentication;
  /** Somebody at a browser; null over REST. */
  readonly browserClient: BrowserClient | null;
  /** Why no procedure at all may run: the window is used up, or a call with a cookie came from elsewhere. */
  readonly blocked: ProblemError | null;
  /** The caller's active membership of a team; null for every team the caller cannot see. */
  membershipOf(teamId: string): Promise<ActiveMembership | null>;
};
