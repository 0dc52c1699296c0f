import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRoster, GROUPS } from '../../src/cli/commands.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { refusalOf, rosterOfItsOwn, run, type Run } from './roster.ts';

const roster = await rosterOfItsOwn();

type Scene = { readonly email: string; readonly other: string; readonly teamId: string };

/** Every change of a command records an event, in whatever way it uses its connection. */
const CHANGES: readonly (readonly [name: string, args: (scene: Scene) => readonly string[]])[] = [
  ['account create', () => ['--email', 'new@example.com', '--verified']],
  ['account disable', ({ other }) => ['--email', other]],
  ['account delete', ({ other }) => ['--email', other]],
  ['team create', ({ email }) => ['--name', 'Other', '--owner', email]],
  ['team transfer', ({ teamId, other }) => ['--team', teamId, '--email', other]],
  ['team delete', ({ teamId }) => ['--team', teamId]],
  ['member add', ({ teamId, other }) => ['--team', teamId, '--email', other, '--role', 'member']],
  ['role create', ({ teamId }) => ['--team', teamId, '--name', 'Editor', '--permissions', 'access_dashboard']],
  ['key create', ({ email }) => ['--email', email, '--scopes', 'teams:read']],
  ['billing set', ({ teamId }) => ['--team', teamId, '--plan', 'pro', '--status', 'active', '--interval', 'month']],
  ['operator-key create', () => ['--name', 'Key', '--scopes', 'events:read']],
];

/** Ends the connection inside of the statement that inserts an event. */
const BREAK = [
  `create function end_connection() returns trigger language plpgsql as
     $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`,
  'create trigger end_connection before insert on audit_event for each statement execute function end_connection()',
];

describe('a command whose connection breaks in the middle of its change', () => {
  let scene: Scene;

  beforeAll(async () => {
    const [owner, other] = [await roster.account(), await roster.account()];
    scene = { email: owner.email, other: other.email, teamId: (await roster.team(owner)).id };
    for (const sql of BREAK) await roster.rows(sql);
  });
  afterAll(() => roster.rows('drop function end_connection cascade'));

  test.for(CHANGES)('%s says so, and exits with 1', async ([name, args]) => {
    const run = await roster.run(...name.split(' '), ...args(scene));

    expect(refusalOf(run)).toMatch(/^DATABASE_URL: no PostgreSQL server answers|terminat/);
  });
});

/** Kysely never gives a connection back that broke inside of a transaction, and its pool would wait for it. */
test('a migration whose connection breaks says so, and exits with 1', async () => {
  const database = await createTestDatabase();
  const env = { DATABASE_URL: database.url, SECRET_KEYS: roster.env.SECRET_KEYS };
  const db = await openDatabase(database.url, 3);
  const rows = (text: string) => db.run({ kind: 'command', name: '', text }, []);
  try {
    await rows('delete from mikro_orm_migrations where id = (select max(id) from mikro_orm_migrations)');
    await rows(`create function end_connection() returns event_trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); end $$`);
    await rows('create event trigger ends on ddl_command_start execute function end_connection()');

    expect(refusalOf(await run(env, ['migrate']))).toMatch(/57P01|terminat/);
  } finally {
    await db.close();
    await database.drop();
  }
});

/** Values of the options that commands require. */
const VALUES: Readonly<Record<string, string>> = {
  '--email': 'a@example.com',
  '--owner': 'a@example.com',
  '--team': 'team_0',
  '--template': 'rtp_0',
  '--key': 'key_0',
  '--client': 'app_0',
  '--endpoint': 'whe_0',
  '--import': 'imp_0',
  '--name': 'Name',
  '--permissions': 'access_dashboard',
  '--redirect-uri': 'https://client.example/callback',
  '--plan': 'pro',
  '--url': 'https://receiver.example/',
  '--format': 'ndjson',
};

const FILES = {
  to: join(tmpdir(), `roster-endings-${process.pid}.to`),
  from: join(tmpdir(), `roster-endings-${process.pid}`),
};

/** What commands need besides, to begin their work. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  'key create': ['--scopes', 'teams:read'],
  'operator-key create': ['--scopes', 'teams:read'],
  backup: ['--to', FILES.to],
  'permissions apply': [FILES.from],
  'oauth-client set-permissions': ['--permissions', 'invoices:write'],
  restore: ['--from', FILES.from],
  import: ['--from', FILES.from],
};

/** All commands, as `roster` itself lists them, each with the words that call it. */
async function listCommands(): Promise<string[][]> {
  const { commands: groups } = createRoster();
  for (const group of groups) (await GROUPS[group.name()]?.[1]())?.(group);
  const calls = (command: Command, path: readonly string[]): string[][] => [
    ...command.commands.flatMap((child) => calls(child, [...path, child.name()])),
    ...(hasAction(command) ? [[...path, ...valuesOf(command, MORE[path.join(' ')] ?? [])]] : []),
  ];
  return groups.flatMap((group) => calls(group, [group.name()]));
}

const hasAction = (command: Command): boolean =>
  (command as Command & { readonly _actionHandler: unknown })._actionHandler !== null; // commander has no other sign

function valuesOf({ options }: Command, more: readonly string[]): string[] {
  const needed = options.filter(({ mandatory, long }) => mandatory && !more.includes(long ?? ''));
  return [
    ...needed.flatMap(({ long, required }) => [long ?? '', ...(required ? [VALUES[long ?? ''] ?? '?'] : [])]),
    ...more,
  ];
}

const calls = await listCommands();

// Guarantees that a command neither ends in the middle of its work nor waits for ever, whatever it waits for.
describe('a command that waits for something that nothing keeps', () => {
  const NODE_OPTIONS = `--import=${join(import.meta.dirname, 'lost-connections.mjs')}`;
  const runs = new Map<readonly string[], Run>();

  // Most of the time each of them waits.
  beforeAll(async () => {
    writeFileSync(FILES.from, '{}\n');
    const waiting = [...calls];
    const runNext = async (): Promise<void> => {
      for (let words = waiting.shift(); words !== undefined; words = waiting.shift())
        runs.set(words, await run({ ...roster.env, NODE_OPTIONS }, words));
    };
    await Promise.all(Array.from({ length: 6 }, runNext));
  }, 600_000);
  afterAll(() => {
    for (const file of Object.values(FILES)) rmSync(file, { force: true });
  });

  test('is tested with every command', () => {
    expect(calls.length).toBeGreaterThan(50);
  });

  test.for(calls.map((words) => [words.join(' '), words] as const))('%s', ([, words]) => {
    expect(runs.get(words)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'roster: the command ended before its work: something that it waited for never answered\n',
    });
  });
});
