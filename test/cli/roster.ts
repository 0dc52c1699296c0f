import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, expect } from 'vitest';
import { runRoster } from '../../src/cli/commands.ts';
import { readConfig } from '../../src/config/config.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createAccount } from '../../src/resources/accounts/accounts.service.ts';
import { createTeam } from '../../src/resources/teams/teams.service.ts';
import { useEventKey } from '../../src/events/chain/event-mac.ts';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { createTestDatabase } from '../support/database.ts';
import { requireCatalogued } from '../support/recorded-events.ts';

export type Run = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

const ROOT = join(import.meta.dirname, '../..');
const SCRATCH = join(tmpdir(), 'roster-cli-test');
// The cache saves a third of each run's time.
const BASE_ENV = { PATH: process.env['PATH'], DATA_DIR: SCRATCH, NODE_COMPILE_CACHE: join(SCRATCH, 'compiled') };

/** Runs the command in a process of its own, with nothing of this process's environment but what finds Node. */
export function run(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['bin/run.cjs', 'src/cli/main.ts', ...args],
      { cwd: ROOT, env: { ...BASE_ENV, ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** Calls the command in this process, as `run` does in another. */
async function call(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<Run> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const code = await runRoster(args, { env: { ...BASE_ENV, ...env }, stdin: Readable.from([]), stdout, stderr });
  for (const stream of [stdout, stderr]) stream.end();
  const [out, err] = await printed;
  return { code, stdout: out, stderr: err };
}

/** A refusal is exit 1, nothing on stdout and one line on stderr. @returns the line. */
export function refusalOf({ code, stdout, stderr }: Run): string {
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^roster: [^\n]+\n$/);
  return stderr.slice('roster: '.length, -1);
}

/** The command on a database of the test file's own, of which every event has to match the catalogue. */
export async function rosterOfItsOwn() {
  const database = await createTestDatabase();
  const db = await openDatabase(database.url, 2);
  const env = { DATABASE_URL: database.url, SECRET_KEYS: 'k'.repeat(40) };
  const encryption = createEncryption([env.SECRET_KEYS]);
  useEventKey(db, encryption);
  const rows = <Row>(sql: string, values: readonly unknown[] = []) =>
    db.run<Row>({ kind: 'command', name: '', text: sql }, values);
  let mayHoldStrayEvents = false;
  afterAll(async () => {
    try {
      if (!mayHoldStrayEvents) await requireCatalogued({ db, encryption, config: readConfig(env) }, rows);
    } finally {
      await db.close();
      await database.drop();
    }
  });
  let made = 0;

  const json = async <Document>(...args: readonly string[]): Promise<Document> => {
    const { code, stdout, stderr } = await call(env, [...args, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const document: Document = JSON.parse(stdout);
    return document;
  };

  return {
    env,
    db,
    json,
    run: (...args: readonly string[]) => call(env, args),
    refusal: async (...args: readonly string[]) => refusalOf(await call(env, args)),
    async account() {
      const email = `Person.${(made += 1)}@example.com`;
      const { id } = await createAccount(db, 'system', { brand: { name: 'Roster' } }, { email, isEmailVerified: true });
      return { id, email };
    },
    async team(owner: { id: string }) {
      const { team } = await createTeam(db, { caller: 'system' }, owner.id, { name: 'Core' });
      return team;
    },
    rows,
    /** For tests with events that were written past the service. */
    allowStrayEvents() {
      mayHoldStrayEvents = true;
    },
  };
}

export const anId = (kind: string): unknown => expect.stringMatching(new RegExp(`^${kind}_[0-9a-v]{26}$`));

export const anInstant: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
