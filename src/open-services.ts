import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Audit } from './events/event.ts';
import { createSealer } from './crypto/encryption.ts';
import { secretsOf } from './crypto/tokens.ts';
import { readSecretKeys } from './config-values.ts';
import { ConfigError, type Config } from './config.ts';
import { openDatabase } from './db/database.ts';
import { startEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import type { RunInSpan } from './telemetry/span.ts';
import type { Services } from './app-services.ts';

export type OpenServices = {
  readonly services: Services;
  /** Whether this call created the embedded database, which is empty then. */
  readonly isNewDatabase: boolean;
  readonly close: () => Promise<void>;
};

/** Opens the services. Without DATABASE_URL, it starts the embedded database. Migrates the database. */
export async function openServices(config: Config, audit: Audit, withSpan?: RunInSpan): Promise<OpenServices> {
  const embedded = config.databaseUrl === undefined ? await startEmbedded({ dataDir: config.dataDir }) : undefined;
  const databaseUrl = embedded?.url ?? config.databaseUrl ?? '';
  try {
    await migrate(databaseUrl);
    const db = await openDatabase(databaseUrl, config.databasePoolMax, withSpan);
    const secretKeys = config.secretKeys ?? ownSecretKeys(config.dataDir);
    return {
      services: { config, db, secrets: secretsOf(config.tokenBrand), sealer: createSealer(secretKeys), audit },
      isNewDatabase: embedded?.created ?? false,
      async close() {
        await db.close();
        await embedded?.close();
      },
    };
  } catch (error) {
    await embedded?.close();
    throw error;
  }
}

/** The generated keys of an instance without SECRET_KEYS, stored beside its embedded database. */
function ownSecretKeys(dataDir: string): readonly string[] {
  const file = join(dataDir, 'secret-keys');
  mkdirSync(dataDir, { recursive: true });
  if (!existsSync(file)) writeOnce(file, `${randomBytes(32).toString('base64url')}\n`);
  try {
    return readSecretKeys(readFileSync(file, 'utf8').trim());
  } catch {
    throw new ConfigError(
      `DATA_DIR: ${file} is damaged: restore it from a backup, or set SECRET_KEYS; deleting it loses all encrypted data`,
    );
  }
}

/** Creates the file with all its content; of concurrent calls only one succeeds. */
function writeOnce(file: string, content: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
}
