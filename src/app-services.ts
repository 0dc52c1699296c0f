import type { Config } from './config.ts';
import type { Sealer } from './crypto/encryption.ts';
import type { Secrets } from './crypto/tokens.ts';
import type { Database } from './db/database.ts';
import type { Audit } from './events/event.ts';

/** What procedures work with; made once at start, and differently in tests. */
export type Services = {
  readonly config: Config;
  readonly db: Database;
  readonly secrets: Secrets;
  readonly sealer: Sealer;
  readonly audit: Audit;
};
