import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createRoster, GROUPS } from '../../src/cli/commands.ts';
import { failureLine } from '../../src/cli/failure.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { aScene, HOSTILE, MARKER, READABLE, SECRET_KEYS, type Scene } from './hostile-scene.ts';
import { account, aFile } from './import-file.ts';
import { run, rosterOfItsOwn } from './roster.ts';

/** What a line may not contain. */
const LEFT_OVER =
  /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200B\u200E\u200F\u2060\u202A-\u202E\u2066\u2067\u2800\u3164\u{E0000}-\u{E0FFF}]/u;

type Args = (scene: Scene) => Promise<readonly string[]> | readonly string[];

/** Commands that show a name of a stranger, as rows or in JSON. */
const SHOWING: Readonly<Record<string, Args>> = {
  'account create': ({ owner }) => ['--email', `new.${owner.email}`, '--first-name', READABLE],
  'account list': () => [],
  'account disable': async ({ person }) => ['--email', (await person()).email],
  'account enable': async ({ person }) => ['--email', (await person()).email],
  'account metadata': async ({ person }) => ['--email', (await person()).email],
  'team create': ({ owner }) => ['--owner', owner.email, '--name', READABLE],
  'team list': () => [],
  'team metadata': async ({ team }) => ['--team', (await team()).id],
  'member add': async ({ team, person, role }) => {
    const { id } = await team();
    return ['--team', id, '--email', (await person()).email, '--role', await role({ id })];
  },
  'member set': async ({ team, member }) => {
    const { id } = await team();
    return ['--team', id, '--email', await member({ id }), '--inactive'];
  },
  'member metadata': async ({ team, member }) => {
    const { id } = await team();
    return ['--team', id, '--email', await member({ id })];
  },
  'role create': async ({ team }) => ['--team', (await team()).id, '--name', READABLE, '--permissions', ''],
  'role-template create': () => ['--name', READABLE, '--permissions', ''],
  'role-template list': async ({ template }) => [await template()].slice(1),
  'role-template set': async ({ template }) => ['--template', await template(), '--permissions', 'access_billing'],
  'key create': ({ owner }) => ['--email', owner.email, '--name', READABLE, '--scopes', 'teams:read'],
  'key list': async ({ key }) => [await key()].slice(1),
  'operator-key create': () => ['--name', READABLE, '--scopes', 'all'],
  'operator-key list': async ({ operatorKey }) => [await operatorKey()].slice(1),
  'operator-key rotate': async ({ operatorKey }) => ['--key', await operatorKey()],
  'oauth-client create': () => ['--name', READABLE, '--redirect-uri', 'https://client.example/'],
  'oauth-client list': async ({ client }) => [await client()].slice(1),
  'permissions list': declared,
  'permissions types': declared,
  'queue list': async ({ email }) => [await email()].slice(1),
  'webhook list': async ({ endpoint }) => [(await endpoint()).endpoint].slice(1),
  'webhook update': async ({ endpoint }) => ['--endpoint', (await endpoint()).endpoint, '--types', 'all'],
  'webhook pause': async ({ endpoint }) => ['--endpoint', (await endpoint()).endpoint],
  'webhook resume': async ({ endpoint }) => ['--endpoint', (await endpoint()).endpoint],
  'webhook deliveries': async ({ endpoint }) => ['--endpoint', (await endpoint()).endpoint],
  'webhook rotate': async ({ endpoint }) => ['--endpoint', (await endpoint()).endpoint],
  'audit export': async ({ url, team }) => {
    const role = ['--team', (await team()).id, '--name', READABLE, '--permissions', ''];
    await runHere(url, ['role', 'create', ...role]);
    return ['--format', 'ndjson'];
  },
  'import list': async ({ importRun }) => [await importRun()].slice(1),
};

/** Commands that show ids, numbers and what their arguments said. */
const OTHERS: Readonly<Record<string, Args>> = {
  'account delete': async ({ person }) => ['--email', (await person()).email],
  'team transfer': async ({ team, person }) => ['--team', (await team()).id, '--email', (await person()).email],
  'team delete': async ({ team }) => ['--team', (await team()).id],
  'role-template delete': async ({ template }) => ['--template', await template()],
  'key revoke': async ({ key }) => ['--key', await key()],
  'operator-key revoke': async ({ operatorKey }) => ['--key', await operatorKey()],
  'oauth-client rotate-secret': async ({ client }) => ['--client', await client()],
  'oauth-client update': async ({ clientOfOperator }) => ['--client', await clientOfOperator(), '--name', READABLE],
  'oauth-client set-permissions': async ({ client }) => ['--client', await client(), '--permissions', ''],
  'oauth-client set-logout': async ({ client }) => ['--client', await client()],
  'oauth-client set-openid': async ({ client }) => ['--client', await client(), '--scopes', 'openid'],
  'oauth-client set-session': async ({ client }) => ['--client', await client()],
  'oauth-client delete': async ({ client }) => ['--client', await client()],
  'billing set': async ({ team }) => ['--team', (await team()).id, '--plan', 'pro'],
  'queue retry': async ({ email }) => ['--id', await email()],
  'queue remove': async ({ email }) => ['--id', await email()],
  'webhook create': () => ['--url', 'https://example.com/\u202E'],
  'webhook delete': async ({ endpoint }) => ['--endpoint', (await endpoint()).endpoint],
  'webhook test': async ({ endpoint }) => ['--endpoint', (await endpoint()).endpoint],
  'webhook replay': async ({ endpoint }) => {
    const { endpoint: id, delivery } = await endpoint();
    return ['--endpoint', id, '--delivery', delivery];
  },
  'permissions apply': () => [permissionsFile()],
  'audit verify': () => [],
  'oidc rotate-keys': () => [],
  'secrets reseal': () => [],
  'import cancel': async ({ importRun }) => ['--import', await importRun()],
  migrate: () => [],
  backup: () => ['--to', join(folder, randomUUID())],
  seed: () => ['--demo'],
  doctor: () => [],
};

/** These run in a process of their own: one gives itself a lower priority, one needs another database. */
const IN_PROCESSES = ['import', 'restore'];

const folder = mkdtempSync(join(tmpdir(), 'roster-output-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function declared({ url }: Scene): Promise<[]> {
  await runHere(url, ['permissions', 'apply', permissionsFile()]);
  return [];
}

/** Declares a permission with a title of the operator. */
function permissionsFile(): string {
  const file = join(folder, randomUUID());
  writeFileSync(file, JSON.stringify({ permissions: [{ name: 'invoices:read', title: { en: READABLE } }] }));
  return file;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Runs a command in this process, because all of them in processes of their own take minutes. */
async function runHere(url: string, args: readonly string[]): Promise<string> {
  vi.stubEnv('BASE_URL', undefined); // of the test runner
  vi.stubEnv('DATABASE_URL', url);
  vi.stubEnv('SECRET_KEYS', SECRET_KEYS);
  vi.stubEnv('DATA_DIR', folder);
  const output: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => output.push(String(text)) > 0);
  try {
    await createRoster().parseAsync(args, { from: 'user' });
  } finally {
    write.mockRestore();
  }
  return output.join('');
}

const stringsIn = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(stringsIn);

function requireHarmlessLines(output: string): void {
  for (const line of output.trimEnd().split('\n')) {
    expect(line).not.toMatch(LEFT_OVER);
    expect(line).not.toMatch(/^forged/);
    expect(line.match(/\u2068/g)?.length).toBe(line.match(/\u2069/g)?.length);
  }
}

test('every command is listed here', async () => {
  const leaves = async (command: Command, name: string): Promise<readonly string[]> => {
    const inner = await Promise.all(command.commands.map((one) => leaves(one, `${name} ${one.name()}`)));
    // `import` runs itself, beside the commands for the imports that exist.
    return command.commands.length === 0 || name === 'import' ? [name, ...inner.flat()] : inner.flat();
  };
  const groups = await Promise.all(
    Object.entries(GROUPS).map(async ([name, [, load]]) => {
      const group = new Command(name);
      (await load())(group);
      return leaves(group, name);
    }),
  );
  const all = groups.flat();
  expect(all.length).toBeGreaterThan(50);
  expect([...Object.keys(SHOWING), ...Object.keys(OTHERS), ...IN_PROCESSES].toSorted()).toEqual(all.toSorted());
});

describe.each(['text', 'json'])('no command prints a name that a terminal obeys, nor a forged row, as %s', (as) => {
  let scene: Scene;
  beforeAll(async () => void (scene = await aScene()));
  afterAll(() => scene.close());

  test.for(Object.entries(SHOWING))('%s', async ([name, args]) => {
    const output = await runHere(scene.url, [...name.split(' '), ...(await args(scene)), ...asJson(as)]);
    requireHarmlessLines(output);
    if (as === 'text') {
      expect(output).toContain(MARKER);
      expect(output.replaceAll(/"[^"]*"/g, '')).not.toMatch(/ {2}forged/); // JSON is in quotation marks
    } else {
      const documents = name === 'audit export' ? output.trim().split('\n') : [output];
      const shown = documents.flatMap((document) => stringsIn(JSON.parse(document)));
      const isThere = shown.some((text) => text.includes(`${MARKER}\u001b`) || text.includes(READABLE));
      expect(isThere).toBe(!['oauth-client create', 'permissions types'].includes(name)); // which have ids only
    }
  });

  test.for(Object.entries(OTHERS))('%s', async ([name, args]) => {
    const output = await runHere(scene.url, [...name.split(' '), ...(await args(scene)), ...asJson(as)]);
    requireHarmlessLines(output);
    expect(output).not.toBe('');
    expect(output).not.toContain(MARKER);
  });
});

const asJson = (as: string): readonly string[] => (as === 'json' ? ['--json'] : []);

describe('in a process of its own', async () => {
  const roster = await rosterOfItsOwn();

  test('import and restore print no name either', async () => {
    const file = aFile([account('imported', { email: 'new@example.com', firstName: READABLE })]);
    const imported = await run(roster.env, ['import', '--from', file]);
    const list = await run(roster.env, ['account', 'list']);
    expect([imported.stderr, list.stdout]).toEqual(['', expect.stringContaining(MARKER)]);
    const backup = join(folder, 'for-restore');
    await run(roster.env, ['backup', '--to', backup]);
    const empty = await createEmptyDatabase();
    const restored = await run({ ...roster.env, DATABASE_URL: empty.url }, ['restore', '--from', backup]);
    await empty.drop();
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('account') });
    for (const { stdout } of [imported, list, restored]) requireHarmlessLines(stdout);
  });

  test('nor does a failure', async () => {
    const { code, stderr } = await run(roster.env, ['account', 'disable', '--email', `ext:${HOSTILE}`]);
    expect(code).toBe(1);
    expect(stderr).toContain(MARKER);
    requireHarmlessLines(stderr);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

test('a failure of any kind is one line', async () => {
  for (const failure of [new Error(HOSTILE), HOSTILE])
    expect(await failureLine(failure, {})).toMatch(/^Mallory[^\n]+$/);
  requireHarmlessLines(await failureLine(new Error(HOSTILE), {}));
});

test('CSV of the audit log has the names as JSON, escaped', async () => {
  const scene = await aScene();
  try {
    await SHOWING['audit export']?.(scene);
    const output = await runHere(scene.url, ['audit', 'export', '--format', 'csv']);
    expect(output).toContain(MARKER);
    requireHarmlessLines(output.replaceAll('\r\n', '\n'));
  } finally {
    await scene.close();
  }
});
