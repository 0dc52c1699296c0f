import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSecretKeys } from '../config/keys.ts';
import type { Config } from '../config/config.ts';
import { createEncryption } from '../crypto/encryption.ts';
import { openDatabase } from '../db/database.ts';
import { describeFault } from '../events/chain/faults.ts';
import { verifyAudit, type Verification } from '../events/chain/verify.ts';
import { notices } from './audit.ts';
import { errorSummary } from './failure.ts';

/** Verifies the audit log of a migrated database. @returns null if no key was ever generated */
export async function verifyAuditOfDatabase(url: string, config: Config): Promise<Verification | null> {
  const file = join(config.dataDir, 'secret-keys');
  const keys = config.secretKeys ?? (existsSync(file) ? readSecretKeys(readFileSync(file, 'utf8').trim()) : null);
  if (keys === null) return null;
  const db = await openDatabase(url, 1);
  try {
    return await verifyAudit({ db, encryption: createEncryption(keys) });
  } finally {
    await db.close();
  }
}

/** Describes the audit log in one line. @throws with all faults */
export async function checkAudit(url: string, config: Config): Promise<string> {
  const found = await verifyAuditOfDatabase(url, config);
  if (found === null) return 'nothing to verify: there is no key yet';
  if (found.faults.length > 0) throw new Error(found.faults.map(describeFault).join('; '));
  return [`${found.events} events verified, ${found.pending} not chained yet`, ...notices(found)].join('; ');
}

/** Describes the audit log in one line, with its faults. */
export const describeAudit = (url: string, config: Config): Promise<string> =>
  checkAudit(url, config).catch((error: unknown) => `not intact: ${errorSummary(error)}`);
