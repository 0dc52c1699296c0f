import type { Config } from '../config/config.ts';
import type { Encryption } from '../crypto/encryption.ts';
import type { Tokens } from '../crypto/tokens.ts';
import type { Database } from '../db/database.ts';
import type { Audit } from '../events/event.ts';

/** The services that procedures use. Created once at startup; tests create their own. */
export type Services = {
  readonly config: Config;
  readonly db: Database;
  readonly tokens: Tokens;
  readonly encryption: Encryption;
  readonly audit: Audit;
};
