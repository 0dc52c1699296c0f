import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readForeignHash } from '../../src/crypto/foreign-hash.ts';
import { verifyPassword } from '../../src/crypto/password-hash.ts';
import { account, aFile, aPrefix, membership, team, type Counts } from '../cli/import-file.ts';
import { refusalOf, rosterOfItsOwn, run } from '../cli/roster.ts';
import { foreignHashes } from '../support/foreign-hashes.ts';

const { env, db, json } = await rosterOfItsOwn();

const rowsOf = <Row>(text: string, values: readonly unknown[] = []) =>
  db.run<Row>({ kind: 'command', name: '', text }, values);

const start = (path: string, ...args: string[]) => run(env, ['import', '--from', path, ...args, '--json']);

const importAll = (path: string, ...args: string[]) => json<Counts>('import', '--from', path, ...args);

const ROOT = join(import.meta.dirname, '../..');

describe('roster import', () => {
  test('accepts the rows in any order', async () => {
    const p = aPrefix();
    const path = aFile([membership(`${p}t`, `${p}b`), team(`${p}t`, `${p}a`), account(`${p}b`), account(`${p}a`)]);
    expect(await importAll(path)).toMatchObject({ accounts: 2, teams: 1, memberships: 1, refused: 0 });
  });

  test('a dry run changes nothing', async () => {
    const p = aPrefix();
    const count = () =>
      rowsOf(
        'select (select count(*) from account), (select count(*) from import_run), (select count(*) from audit_event)',
      );
    const before = await count();
    const path = aFile([
      account(`${p}a`),
      account(`${p}a`),
      team(`${p}t`, `${p}a`),
      account(`${p}b`),
      membership(`${p}t`, `${p}b`),
    ]);

    expect(await importAll(path, '--dry-run')).toMatchObject({ accounts: 2, teams: 1, memberships: 1, existing: 1 });

    expect(await count()).toEqual(before);
  });

  test.for(['gzip', 'a byte order mark and no last line end', 'CRLF and empty lines'] as const)(
    'reads a file with %s',
    async (kind) => {
      const p = aPrefix();
      const text = [account(`${p}a`), account(`${p}b`)].map((row) => JSON.stringify(row));
      const content = {
        gzip: gzipSync(text.join('\n')),
        'a byte order mark and no last line end': Buffer.from(`\uFEFF${text.join('\n')}`),
        'CRLF and empty lines': Buffer.from(`\r\n${text.join('\r\n\r\n')}\r\n\r\n`),
      }[kind];
      expect(await importAll(aFile(content))).toMatchObject({ rows: 2, accounts: 2, refused: 0 });
    },
  );

  test.for([
    ['an empty file', Buffer.alloc(0), /has no rows/],
    ['a file of empty lines', Buffer.from('\n\r\n\n'), /has no rows/],
    ['a damaged gzip file', gzipSync('{"type":"account"}\n'.repeat(1000)).subarray(0, 40), /cannot be read: /],
  ] as const)('refuses %s in one line', async ([, content, reason]) => {
    expect(refusalOf(await start(aFile(Buffer.from(content))))).toMatch(reason);
  });

  test('refuses a file that does not exist, and a directory', async () => {
    expect(refusalOf(await start('/no/such/file'))).toMatch(/--from: .* does not exist/);
    expect(refusalOf(await start(tmpdir()))).toMatch(/--from: .* cannot be read/);
  });

  test('gives teams of one name different slugs', async () => {
    const p = aPrefix();
    await importAll(aFile([account(`${p}a`), ...Array.from({ length: 50 }, (_, i) => team(`${p}${i}`, `${p}a`))]));
    const [row] = await rowsOf<{ slugs: string }>(
      'select count(distinct slug)::text as slugs from team where external_id like $1',
      [`${p}%`],
    );
    expect(row?.slugs).toBe('50');
  });

  test('two processes with one file import each row once', async () => {
    const p = aPrefix();
    const path = aFile(Array.from({ length: 3000 }, (_, i) => account(`${p}${i}`)));
    const runs = await Promise.all([start(path), start(path)]);
    expect(runs.some(({ code }) => code === 0)).toBe(true);
    const counted = await rowsOf('select count(*)::int as number from account where external_id like $1', [`${p}%`]);
    expect(counted).toEqual([{ number: 3000 }]);
  });

  test('keeps the hashes as they are, and notes their schemes', async () => {
    const p = aPrefix();
    const hashes = foreignHashes('wandering heron 42');
    await importAll(aFile(hashes.map(([, hash], i) => account(`${p}${i}`, { passwordHash: hash }))));
    const stored = await rowsOf<{ password_hash: string }>(
      `select password_hash from account where external_id like $1 order by id`,
      [`${p}%`],
    );
    expect(stored.map(({ password_hash: hash }) => hash)).toEqual(hashes.map(([, hash]) => hash));
    expect(await verifyPassword('wandering heron 42', stored[0]?.password_hash ?? null)).toBe(true);
    const schemes = await rowsOf<{ scheme: string }>('select scheme from password_scheme where accounts > 0');
    expect(new Set(schemes.map(({ scheme }) => scheme))).toEqual(
      new Set(hashes.map(([, hash]) => readForeignHash(hash).scheme)),
    );
  });

  // Guarantees that a crash at any point costs the time since the last batch, and nothing else.
  test('of 200,000 rows is killed again and again, and imports each of them once', async () => {
    const p = aPrefix();
    const path = aFile([]);
    const file = createWriteStream(path);
    for (let i = 0; i < 100_000; i += 1) {
      file.write(`${JSON.stringify(account(`${p}${i}`, i % 1000 === 7 ? { email: 'bad' } : {}))}\n`);
      file.write(`${JSON.stringify(membership(`${p}t${i % 100}`, `${p}${i}`))}\n`);
      if (i < 100) file.write(`${JSON.stringify(team(`${p}t${i}`, `${p}0`))}\n`);
    }
    file.end();
    await once(file, 'close');
    const imported = async () => {
      const [row] = await rowsOf<{ accounts: number; memberships: number }>(
        `select (select count(*)::int from account where external_id like $1) as accounts,
           (select count(*)::int from membership m join team t on t.id = m.team_id where t.external_id like $1) as memberships`,
        [`${p}%`],
      );
      return row ?? { accounts: 0, memberships: 0 };
    };

    for (let kills = 0, before = 0; kills < 5; kills += 1) {
      const child = spawn(process.execPath, ['src/cli/main.ts', 'import', '--from', path], {
        cwd: ROOT,
        env: { PATH: process.env['PATH'], ...env },
        stdio: 'ignore',
      });
      const exited = once(child, 'exit');
      for (let now = before; now < before + 10_000;) {
        await sleep(20);
        const { accounts, memberships } = await imported();
        now = accounts + memberships;
        if (child.exitCode !== null) throw new Error(`The import ended early with ${child.exitCode}.`);
      }
      child.kill('SIGKILL');
      await exited;
      const { accounts, memberships } = await imported();
      before = accounts + memberships;
    }
    expect(existsSync(`${path}.refused.ndjson`)).toBe(true);

    const { code, stdout, stderr } = await start(path);

    expect(stderr).toContain('Continuing at line');
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      // The owner of all teams is a member of the first one by its team row.
      { rows: 200_100, accounts: 99_900, teams: 100, memberships: 99_899, existing: 1, refused: 200 },
    ]);
    expect(await imported()).toEqual({ accounts: 99_900, memberships: 99_899 + 100 });
    const lines = readFileSync(`${path}.refused.ndjson`, 'utf8').trim().split('\n');
    const numbers = lines.map((line) => (JSON.parse(line) as { line: number }).line);
    expect([numbers.length, new Set(numbers).size]).toEqual([200, 200]);
    const events = await rowsOf(
      `select 1 from audit_event where event = 'operator.import_started' and details->>'number' = '200100'`,
    );
    expect(events).toHaveLength(1);
  }, 240_000);
});
