import { query } from '../db/query.ts';
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Audit } from '../events/event.ts';
import { createEncryption } from '../crypto/encryption.ts';
import { createTokens } from '../crypto/tokens.ts';
import { readSecretKeys } from '../config/keys.ts';
import { ConfigError, type Config } from '../config/config.ts';
import { openDatabase, type Database } from '../db/database.ts';
import { isUnavailable } from '../db/errors.ts';
import { connectionFault } from './database-fault.ts';
import { isDamage } from '../embedded-postgres/damage.ts';
import { type Embedded, startEmbedded } from '../embedded-postgres/start.ts';
import { EmbeddedError } from '../embedded-postgres/home.ts';
import { resolvePooler } from '../db/pooler/detect.ts';
import { migrate } from '../db/migrate.ts';
import type { RunInSpan } from '../telemetry/span.ts';
import { useEventKey } from '../events/chain/event-mac.ts';
import type { Services } from './services.ts';

export type OpenServices = {
  readonly services: Services;
  /** Whether this call created the embedded database, which is empty then. */
  readonly isNewDatabase: boolean;
  /** The version that migrated the database, if it is one later than this one. */
  readonly newerSchema: string | undefined;
  readonly close: () => Promise<void>;
};

/** Opens the services. Without DATABASE_URL, it starts the embedded database. Migrates the database. */
export async function openServices(config: Config, audit: Audit, withSpan?: RunInSpan): Promise<OpenServices> {
  const embedded = config.databaseUrl === undefined ? await openEmbedded(config) : undefined;
  let databaseUrl = embedded?.url ?? config.databaseUrl ?? '';
  try {
    let newerSchema: string | undefined;
    if (embedded === undefined) databaseUrl = await resolvePooler(databaseUrl, config.databasePooler);
    await migrateDirectly(databaseUrl, config, (version) => (newerSchema = version));
    const db = await openDatabase(databaseUrl, config.databasePoolMax, withSpan);
    const secretKeys = config.secretKeys ?? (await ownSecretKeys(config.dataDir, db));
    return {
      services: createServices(config, db, secretKeys, audit),
      isNewDatabase: embedded?.created ?? false,
      newerSchema,
      async close() {
        await db.close();
        await embedded?.close();
      },
    };
  } catch (error) {
    await embedded?.close();
    const fault =
      embedded === undefined ? connectionFault(error, databaseUrl) : embeddedFault(error, embedded, config.dataDir);
    throw fault === undefined ? error : new ConfigError(fault);
  }
}

/** Creates the services on an open, migrated database. */
export function createServices(config: Config, db: Database, secretKeys: readonly string[], audit: Audit): Services {
  const encryption = createEncryption(secretKeys);
  useEventKey(db, encryption);
  return { config, db, tokens: createTokens(config.tokenBrand), encryption, audit };
}

/** Migrates over DATABASE_MIGRATION_URL if it is set. */
async function migrateDirectly(
  databaseUrl: string,
  { databaseMigrationUrl }: Config,
  onNewer: (version: string) => void,
): Promise<void> {
  if (databaseMigrationUrl === undefined) return void (await migrate(databaseUrl, undefined, onNewer));
  await migrate(databaseMigrationUrl, undefined, onNewer).catch((error: unknown) => {
    const fault = connectionFault(error, databaseMigrationUrl, 'DATABASE_MIGRATION_URL');
    throw fault === undefined ? error : new ConfigError(fault);
  });
}

/** Starts the embedded database. @throws ConfigError if the operator can fix the cause */
export async function openEmbedded({ dataDir }: Config): Promise<Embedded> {
  try {
    return await startEmbedded({ dataDir });
  } catch (error) {
    const fault = error instanceof EmbeddedError ? error.message : fileFault(error, dataDir);
    throw fault === undefined ? error : new ConfigError(fault);
  }
}

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  53100: 'the disk is full',
  EROFS: 'the file system is read-only',
  EACCES: 'access is denied to this user',
  EPERM: 'access is denied to this user',
  ENOTDIR: 'it is not a directory',
  EEXIST: 'it is not a directory',
  EISDIR: 'a directory is in the place of a file: restore a copy',
  EMFILE: 'too many files are open: raise the limit (`ulimit -n`)',
  ENFILE: 'too many files are open on this machine',
};

/** Explains why the embedded database cannot be used. If it crashed, connections are told that it recovers, and not why. */
function embeddedFault(error: unknown, embedded: Embedded, dataDir: string): string | undefined {
  const reason = isUnavailable(error) ? embedded.crashReason() : undefined;
  if (reason === undefined) return fileFault(error, dataDir);
  return `DATA_DIR: the embedded PostgreSQL in ${dataDir} crashed: ${reason}`;
}

function fileFault(error: unknown, dataDir: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  const fault =
    FILE_FAULTS[code] ??
    (isDamage(code) ? `its database is damaged: ${error.message}: restore a backup` : undefined) ??
    // Such as below /proc, whose parent exists and takes no directories.
    ('syscall' in error && error.syscall === 'mkdir' ? 'it cannot be created: set it to another directory' : undefined);
  return fault === undefined ? undefined : `DATA_DIR: ${dataDir} cannot be used: ${fault} (${code})`;
}

/** Whether keys may have encrypted something: then new ones cannot replace them. */
export const IS_FILLED = 'select exists (select from account) or exists (select from audit_event) as "isFilled"';
const isFilled = query<{ isFilled: boolean }>('database_check_filled', IS_FILLED);

export const missingSecretKeys = (dataDir: string): string =>
  `DATA_DIR: ${join(dataDir, 'secret-keys')} is missing, but the database is not empty: restore the file from a copy of DATA_DIR, or set SECRET_KEYS; new keys lose all encrypted data`;

/** The generated keys of an instance without SECRET_KEYS, stored beside its embedded database. */
async function ownSecretKeys(dataDir: string, db: Database): Promise<readonly string[]> {
  const file = join(dataDir, 'secret-keys');
  if (!existsSync(file)) {
    const [row] = await db.query(isFilled, []);
    // Another process that started at the same time generates the file before it fills the database.
    if (row?.isFilled === true && !existsSync(file)) throw new ConfigError(missingSecretKeys(dataDir));
    mkdirSync(dataDir, { recursive: true });
    writeOnce(file, `${randomBytes(32).toString('base64url')}\n`);
  }
  try {
    return readSecretKeys(readFileSync(file, 'utf8').trim());
  } catch (error) {
    // Of the file system: the file can be whole.
    if (error instanceof Error && 'syscall' in error)
      throw new ConfigError(`DATA_DIR: ${file} cannot be read: ${error.message}`);
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
