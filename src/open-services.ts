import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Audit } from './events/event.ts';
import { createSealer } from './crypto/encryption.ts';
import { secretsOf } from './crypto/tokens.ts';
import { readSecretKeys, type Config } from './config.ts';
import { openDatabase } from './db/database.ts';
import { startEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import type { RunInSpan } from './telemetry/span.ts';
import type { Services } from './app-services.ts';

export type OpenServices = {
  readonly services: Services;
  /** The embedded database was made by this call, so it is empty. */
  readonly isNewDatabase: boolean;
  readonly close: () => Promise<void>;
};

/** Opens what procedures work with: the database, embedded where none is configured, migrated. */
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

/** The keys of an installation that names none: made once, beside its embedded database. */
function ownSecretKeys(dataDir: string): readonly string[] {
  const file = join(dataDir, 'secret-keys');
  mkdirSync(dataDir, { recursive: true });
  if (!existsSync(file)) writeOnce(file, `${randomBytes(32).toString('base64url')}\n`);
  return readSecretKeys(readFileSync(file, 'utf8').trim());
}

/** Of two processes that start at once one writes, and neither reads half a file. */
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
