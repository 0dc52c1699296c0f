import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { makeDataDir, removeDataDir, serverEnded } from '../support/service.ts';

const PASSWORD_REJECTED =
  /^DATA_DIR: the embedded PostgreSQL rejects the password in `roster\.password` of its data directory: restore that file$/;
const DAMAGED = /^DATA_DIR: the files of the embedded PostgreSQL are damaged: restore a backup \(.+\)$/;

const PID_FILE =
  /^DATA_DIR: HOME\/data\/postmaster\.pid is damaged: delete it, if no other PostgreSQL uses this directory \(.+\)$/;
const NO_ACCESS =
  /^DATA_DIR: PostgreSQL, which runs as the user \d+, cannot use its files: run `chown -R \d+:\d+ HOME && chmod 700 HOME\/data` \(.+\)$/;
const CLOSED =
  /^DATA_DIR: PostgreSQL, which runs as the user \d+, cannot use \S+: run `(chmod o\+x \S+|chown \d+:\d+ HOME && chmod 700 HOME)`$/;

const removed = (data: string, path: string) => rmSync(join(data, path), { recursive: true });
const written = (data: string, path: string, content: string | Buffer) => writeFileSync(join(data, path), content);

function truncatedLog(data: string): void {
  const log = join(data, 'pg_wal');
  for (const name of readdirSync(log)) if (/^[\dA-F]{24}$/.test(name)) truncateSync(join(log, name), 1000);
}

// Set once, by beforeAll.
let template = '';

/** The error of a start on a copy of a database after a change of its data directory. */
async function failureAfter(change: (data: string) => void): Promise<string> {
  const dataDir = makeDataDir();
  onTestFinished(async () => {
    await serverEnded(dataDir);
    await removeDataDir(dataDir);
  });
  spawnSync('cp', ['-a', join(template, 'postgres'), dataDir]);
  const home = join(dataDir, 'postgres');
  change(join(home, 'data'));
  return startEmbedded({ dataDir, durable: false }).then(
    async (embedded) => {
      await embedded.close();
      return 'started';
    },
    (error: unknown) => (error as Error).message.replaceAll(realpathSync(home), 'HOME'),
  );
}

// Guarantees that no damage is retried without end, or reported without what to do.
describe.skipIf(process.platform !== 'linux')('a start on an embedded database', () => {
  beforeAll(async () => {
    template = makeDataDir();
    const first = await startEmbedded({ dataDir: template, durable: false });
    await first.close();
  });
  afterAll(() => removeDataDir(template));

  test.for<[string, RegExp, (data: string) => void]>([
    ['whose password was emptied', PASSWORD_REJECTED, (data) => written(data, 'roster.password', '')],
    ['with another password', PASSWORD_REJECTED, (data) => written(data, 'roster.password', 'guess\n')],
    ['whose password is zeros', PASSWORD_REJECTED, (data) => written(data, 'roster.password', Buffer.alloc(33))],
    [
      'without its password',
      /^DATA_DIR: HOME\/data\/roster\.password is missing: restore that file$/,
      (data) => removed(data, 'roster.password'),
    ],
    ['with an emptied PG_VERSION', DAMAGED, (data) => written(data, 'PG_VERSION', '')],
    ['with a random pg_control', DAMAGED, (data) => written(data, 'global/pg_control', Buffer.alloc(8192, 0x5a))],
    ['with an emptied pg_control', DAMAGED, (data) => written(data, 'global/pg_control', '')],
    ['without pg_control', DAMAGED, (data) => removed(data, 'global/pg_control')],
    ['with a truncated write-ahead log', DAMAGED, truncatedLog],
    ['without pg_wal', DAMAGED, (data) => removed(data, 'pg_wal')],
    ['without pg_xact', DAMAGED, (data) => removed(data, 'pg_xact')],
    ['without base', DAMAGED, (data) => removed(data, 'base')],
    ['with an emptied pg_filenode.map', DAMAGED, (data) => written(data, 'global/pg_filenode.map', '')],
    ['without pg_filenode.map', DAMAGED, (data) => removed(data, 'global/pg_filenode.map')],
    [
      'with a random pg_filenode.map',
      DAMAGED,
      (data) => written(data, 'global/pg_filenode.map', Buffer.alloc(512, 0x5a)),
    ],
    [
      'of another version of PostgreSQL',
      /^DATA_DIR: the embedded PostgreSQL in HOME\/data does not start: .*initialized by PostgreSQL version 13, which/,
      (data) => written(data, 'PG_VERSION', '13\n'),
    ],
    [
      'with an invalid setting',
      /^DATA_DIR: the embedded PostgreSQL in HOME\/data does not start: .*postgresql\.conf" contains errors$/,
      (data) => appendFileSync(join(data, 'postgresql.conf'), 'no_such_setting = 1\n'),
    ],
    ['whose postmaster.pid is text', PID_FILE, (data) => written(data, 'postmaster.pid', 'text\n')],
    ['whose postmaster.pid is zeros', PID_FILE, (data) => written(data, 'postmaster.pid', Buffer.alloc(100))],
    ['whose postmaster.pid is a directory', PID_FILE, (data) => mkdirSync(join(data, 'postmaster.pid'))],
    ['whose data directory is open to all', NO_ACCESS, (data) => chmodSync(data, 0o755)],
  ])('%s ends with one line that says what to do', async ([, line, change]) => {
    expect(await failureAfter(change)).toMatch(line);
  });

  // Root can use every file, and the account of the server cannot.
  test.runIf(process.getuid?.() === 0).for<[string, RegExp, (data: string) => void]>([
    ['that was copied', NO_ACCESS, (data) => spawnSync('chown', ['-R', '0:0', data])],
    ['of which one file was copied', NO_ACCESS, (data) => chownSync(join(data, 'PG_VERSION'), 0, 0)],
    ['below a closed directory', CLOSED, (data) => chmodSync(join(data, '../..'), 0o700)],
    ['whose directory is closed', CLOSED, (data) => chmodSync(join(data, '..'), 0o500)],
  ])('%s ends, as root, with one line that says what to do', async ([, line, change]) => {
    expect(await failureAfter(change)).toMatch(line);
  });
});
