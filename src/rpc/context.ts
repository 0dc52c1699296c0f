import type { Audit } from '../access/audit.ts';
import type { Authentication } from '../access/authenticate.ts';
import type { ActiveMembership } from '../access/principal.ts';
import type { Secrets } from '../access/secrets.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { ProblemError } from '../errors.ts';
import type { Visitor } from './visitor.ts';
import type { Sealer } from '../access/sealer.ts';

/** What procedures work with; made once at start, and differently in tests. */
export type Services = {
  readonly config: Config;
  readonly db: Database;
  readonly secrets: Secrets;
  readonly sealer: Sealer;
  readonly audit: Audit;
};

/** What a procedure gets of one call, however it came in. */
export type Context = {
  readonly services: Services;
  readonly requestId: string;
  /** Of the client, as far as proxies are believed. */
  readonly address: string;
  readonly authentication: Authentication;
  /** Somebody at a browser; null over REST. */
  readonly visitor: Visitor | null;
  /** Why no procedure at all may run: the window is used up, or a call with a cookie came from elsewhere. */
  readonly blocked: ProblemError | null;
  /** The caller's active membership of a team; null for every team the caller cannot see. */
  membershipOf(teamId: string): Promise<ActiveMembership | null>;
};
