import { spawnSync } from 'node:child_process';
import { appendFileSync, readdirSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { makeDataDir, removeDataDir, serverEnded } from '../support/service.ts';

const PASSWORD_REJECTED =
  /^DATA_DIR: the embedded PostgreSQL rejects the password in `roster\.password` of its data directory: restore that file$/;
const DAMAGED = /^DATA_DIR: the files of the embedded PostgreSQL are damaged: restore a backup \(.+\)$/;

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
  ])('%s ends with one line that says what to do', async ([, line, change]) => {
    expect(await failureAfter(change)).toMatch(line);
  });
});
