import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { readSecretKeys } from '../config/keys.ts';
import { ConfigError, readConfig, type Config } from '../config/config.ts';
import { failed, passed, runCheck, type Check } from './check.ts';
import { checkDatabase, checkPooler } from './doctor-database.ts';
import { checkRedis } from './doctor-redis.ts';
import { CommandError } from './failure.ts';
import { print } from './output.ts';
import { terminalOf } from './terminal.ts';

const WAIT_MS = 3000;
/** The write-ahead log of the embedded server can grow to 1 GB before it is recycled. */
const FREE_MIB_MIN = 1024;

export function doctorCommand(command: Command): void {
  command.action(async () => {
    const checks = await runChecks(terminalOf(command).env);
    await print(command, { json: checks, lines: checks.map(formatCheck) });
    const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name);
    if (failed.length > 0)
      throw new CommandError(`${failed.length} of ${checks.length} checks failed: ${failed.join(', ')}`);
  });
}

const formatCheck = ({ name, ok, detail }: Check): string => `${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(16)}${detail}`;

async function runChecks(env: NodeJS.ProcessEnv): Promise<Check[]> {
  try {
    const config = readConfig(env);
    const [database, ...others] = await Promise.all([
      checkDatabase(config),
      runCheck('pooler', () => checkPooler(config)),
      runCheck('redis', () => checkRedis(config)),
      runCheck('mail', () => checkMail(config)),
      runCheck('disk', () => checkDisk(config)),
      runCheck('secret-keys', () => countSecretKeys(config)),
      Promise.resolve(passed('base-url', config.baseUrl)),
    ]);
    return [
      passed('configuration', ['all variables are valid', ...config.warnings].join('; ')),
      ...database,
      ...others,
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [failed('configuration', error.message)];
  }
}

async function checkMail({ smtpUrl, mailFrom, dataDir }: Config): Promise<string> {
  if (smtpUrl !== undefined) {
    const { checkMailServer } = await import('../email/check-server.ts');
    await checkMailServer(smtpUrl, mailFrom, WAIT_MS);
    return `${new URL(smtpUrl).host} accepts email from ${mailFrom.address}`;
  }
  const directory = join(dataDir, 'mail');
  accessSync(findExistingParent(directory), constants.W_OK | constants.X_OK);
  return `written to files in ${directory}`;
}

const findExistingParent = (path: string): string => (existsSync(path) ? path : findExistingParent(dirname(path)));

function checkDisk({ databaseUrl, dataDir }: Config): string {
  if (databaseUrl !== undefined) return 'not checked, because the database is external';
  const { bavail, bsize } = statfsSync(findExistingParent(join(dataDir, 'postgres')));
  const freeMib = Math.floor((bavail * bsize) / 1024 ** 2);
  if (freeMib < FREE_MIB_MIN)
    throw new Error(`${freeMib} MiB free in ${dataDir}: free at least ${FREE_MIB_MIN} MiB for the database`);
  return `${freeMib} MiB free in ${dataDir}`;
}

function countSecretKeys({ secretKeys: keys, dataDir }: Config): string {
  if (keys !== undefined) return `${keys.length} in SECRET_KEYS`;
  const file = join(dataDir, 'secret-keys');
  if (!existsSync(file)) return `the first start of the service generates one in ${file}`;
  return `${readSecretKeys(readFileSync(file, 'utf8').trim()).length} in ${file}`;
}
