import type { Authentication } from '../access/authenticate.ts';
import type { ActiveMembership } from '../access/principal.ts';
import type { Secrets } from '../access/secrets.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { Sealer } from '../access/sealer.ts';

/** What procedures work with; made once at start, and differently in tests. */
export type Services = {
  readonly config: Config;
  readonly db: Database;
  readonly secrets: Secrets;
  readonly sealer: Sealer;
};

/** What a procedure gets of one call, however it came in. */
export type Context = {
  readonly services: Services;
  readonly requestId: string;
  readonly authentication: Authentication;
  /** The caller's active membership of a team; null for every team the caller cannot see. */
  membershipOf(teamId: string): Promise<ActiveMembership | null>;
};
