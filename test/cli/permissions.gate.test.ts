import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError, type Config } from '../../src/config/config.ts';
import { readCatalogue } from '../../src/resources/permissions/catalogue.queries.ts';
import { applyPermissionsFile } from '../../src/resources/permissions/file.ts';
import { createRole } from '../../src/resources/roles/roles.service.ts';
import { installPackedClient, TSC } from '../clients/packed-client.ts';
import { launchService, startService } from '../support/service.ts';
import { rosterOfItsOwn, run } from './roster.ts';

const roster = await rosterOfItsOwn();
const dir = mkdtempSync(join(tmpdir(), 'roster-types-'));

const COMPILER = {
  strict: true,
  module: 'nodenext',
  target: 'es2022',
  lib: ['es2022', 'esnext.disposable', 'dom', 'dom.iterable'],
  types: [],
  preserveSymlinks: true,
};
const PEERS =
  '@tanstack/query-core @tanstack/react-query @trpc/client @trpc/server @types/react csstype jose oauth4webapi react';

const PROGRAM = `
import { createOperator, type AnyPermission } from '@roster/client';
import { Protect, useTeam } from '@roster/client/react';
import { createRosterAuth, toExpress, type RosterSession } from '@roster/client/server';
declare const request: Request;
declare const session: RosterSession;
const auth = createRosterAuth({ baseUrl: 'https://a.example', appUrl: 'https://b.example', clientId: 'c', clientSecret: 's', secret: 's' });
const operator = createOperator({ baseUrl: 'https://a.example', operatorKey: 'k' });
`;

/** What a product does with permissions. */
const usesOf = (permission: string): readonly string[] => [
  `void auth.requirePermission(request, '${permission}');`,
  `toExpress(auth).permission('${permission}');`,
  `Protect({ permission: '${permission}' });`,
  `(() => useTeam().team?.permissions.includes('${permission}'));`,
  `session.team?.permissions.includes('${permission}');`,
  `void operator.authenticate(request, { permission: '${permission}' });`,
  `'${permission}' satisfies AnyPermission;`,
];

beforeAll(() => installPackedClient(dir, PEERS.split(' ')));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** @returns the lines that the compiler rejects */
async function rejected(lines: readonly string[]): Promise<readonly string[]> {
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: COMPILER, files: ['program.ts', 'permissions.ts'] }),
  );
  writeFileSync(join(dir, 'program.ts'), [...PROGRAM.split('\n'), ...lines].join('\n'));
  const printed = await promisify(execFile)(process.execPath, [TSC, '-p', dir, '--noEmit']).then(
    () => '',
    (error: unknown) => String((error as { stdout: string }).stdout), // what execFile rejects with
  );
  const written = readFileSync(join(dir, 'program.ts'), 'utf8').split('\n');
  return [...printed.matchAll(/^(.*)\((\d+),/gm)].map(([, file = '', line]) =>
    file.endsWith('program.ts') ? (written[Number(line) - 1] ?? '') : file,
  );
}

let files = 0;
const aFile = (content: object | string): string => {
  const file = join(dir, `${(files += 1)}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
};
const of = (name: string, more: object = {}) => ({ name, title: { en: name }, ...more });
const catalogue = async () =>
  (await readCatalogue(roster.db)).permissions.map(({ name, keys }) => (keys ? `${name} (keys)` : name));
const apply = (content: object, ...args: string[]) => roster.run('permissions', 'apply', aFile(content), ...args);

/** What a start with a file says that fails. */
const faultOf = async (content: object | string): Promise<string> => {
  const permissionsFile = aFile(content);
  const config = { permissionsFile } as Config; // all that it reads
  const failed = await applyPermissionsFile({ config, db: roster.db }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ConfigError);
  return (failed as Error).message.replace(`PERMISSIONS_FILE: ${permissionsFile}`, 'FILE');
};

describe('permissions apply', () => {
  test('replaces the catalogue, says what changes, and changes nothing in a dry run', async () => {
    const first = await apply({ permissions: [of('invoices:read', { keys: true }), of('invoices:write')] });
    expect(first).toMatchObject({
      code: 0,
      stdout: '+ invoices:read\n+ invoices:write\nApplied as version 1.\n',
      stderr: '',
    });
    expect(await catalogue()).toEqual(['invoices:read (keys)', 'invoices:write']);

    const next = { permissions: [of('invoices:read'), of('invoices:print')] };
    const none = '0 roles, 0 templates, 0 keys, 0 clients, 0 grants';
    const changes = `+ invoices:print\n~ invoices:read  (keys; ${none})\n- invoices:write  (no decision; ${none})\n`;
    const dry = await apply(next, '--dry-run');
    expect(dry).toMatchObject({ code: 0, stdout: `${changes}Nothing was changed. The version is 1.\n` });
    expect(await catalogue()).toEqual(['invoices:read (keys)', 'invoices:write']);
    expect((await apply(next)).stdout).toBe(`${changes}Applied as version 2.\n`);
    expect((await apply(next)).stdout).toBe('Nothing was changed. The version is 2.\n');
    expect((await roster.run('permissions', 'list')).stdout).toBe(
      'invoices:read  invoices:read\ninvoices:print  invoices:print\n',
    );
  });

  test('removes nothing that is held without a decision, and says so in a dry run', async () => {
    await apply({ permissions: [of('a:one'), of('a:two'), of('a:three')], removals: {} });
    const team = await roster.team(await roster.account());
    await createRole(roster.db, 'system', team.id, {
      name: 'R',
      permissions: [],
      productPermissions: ['a:one', 'a:two'],
    });
    const less = { permissions: [of('a:three')] };
    const before = await catalogue();

    const [dry, real, start] = [await apply(less, '--dry-run'), await apply(less), await faultOf(less)];
    expect([dry.code, dry.stderr]).toEqual([
      1,
      'roster: a:one is held, and needs a decision in `removals` (and 1 others)\n',
    ]);
    expect(dry.stdout).toContain('- a:one  (no decision; 1 roles, 0 templates, 0 keys, 0 clients, 0 grants)');
    const held =
      '`a:one` is held by 1 role. So are 1 others. Decide in `removals`: `drop`, or `replaceWith` another permission.';
    expect(real).toEqual({ code: 1, stdout: '', stderr: `roster: ${held}\n` });
    expect(start).toBe(`FILE: ${held}`);
    expect(await catalogue()).toEqual(before);

    const removals = { 'a:one': 'drop', 'a:two': { replaceWith: 'a:three' } };
    expect(await apply({ ...less, removals }, '--dry-run')).toMatchObject({ code: 0, stderr: '' });
    const applied = await apply({ ...less, removals });
    expect(applied.stdout).toMatch(/- a:one {2}\(dropped; .*\n- a:two {2}\(replaced with a:three; /);
    const [role] = await roster.rows('select product_permissions as held from role where team_id = $1', [team.id]);
    expect(role).toEqual({ held: ['a:three'] });
  });
});

describe('a file that cannot be applied names the line or entry, and changes nothing', () => {
  const many = Array.from({ length: 501 }, (_, i) => of(`a:p${i}`));
  const good = of('a:one');
  const FAULTS: readonly (readonly [string, object | string, string | RegExp])[] = [
    ['no JSON', '{\n  "permissions": [\n    {]\n}', /^FILE cannot be read as JSON: .*line 3/],
    ['no object', '[]', /^FILE: the content: /],
    ['an unknown member', { permissions: [], removal: {} }, /^FILE: the content: .*removal/],
    ['a duplicate', { permissions: [good, of('a:two'), good] }, 'FILE: `a:one` is declared twice.'],
    ['501 entries', { permissions: many }, /^FILE: permissions: .*500/],
    ['one of the six', { permissions: [good, of('invite_members')] }, /^FILE: permissions\.1\.name: .*invoices:write/],
    ['one of the ten scopes', { permissions: [good, of('teams:read')] }, 'FILE: `teams:read` is a scope of Roster.'],
    ['a name in capitals', { permissions: [of('A:b')] }, /^FILE: permissions\.0\.name: /],
    ['no title', { permissions: [good, { name: 'a:two' }] }, /^FILE: permissions\.1\.title: /],
    ['a title in no language', { permissions: [of('a:b', { title: {} })] }, /^FILE: permissions\.0\.title: .*language/],
    ['the owner as a holder', { permissions: [of('a:b', { roles: ['owner'] })] }, /^FILE: permissions\.0\.roles\.0: /],
    [
      'a replacement that is not declared',
      { permissions: [good], removals: { 'a:two': { replaceWith: 'a:three' } } },
      'FILE: `a:three`, which replaces `a:two`, is not declared.',
    ],
  ];

  test.each(FAULTS)('%s', async (_, content, fault) => {
    const before = await catalogue();
    expect(await faultOf(content)).toMatch(fault);
    expect(await catalogue()).toEqual(before);
  });

  test('none at its path', async () => {
    const config = { permissionsFile: join(dir, 'none.json') } as Config; // all that it reads
    await expect(applyPermissionsFile({ config, db: roster.db })).rejects.toThrow(/PERMISSIONS_FILE: \S+none\.json/);
  });

  test('by the command, in one line', async () => {
    expect(await roster.refusal('permissions', 'apply', aFile({ permissions: [good, good] }))).toBe(
      '`a:one` is declared twice.',
    );
    expect(await roster.refusal('permissions', 'apply', aFile({ permissions: many }))).toMatch(
      /^\S+\.json: permissions: .*500/,
    );
  });
});

test('a start applies PERMISSIONS_FILE before it serves, again without a change, and fails with one that it cannot apply', async () => {
  const startWith = (content: object) => ({
    dataDir: dir,
    env: { ...roster.env, SEED_DEMO: 'off', PERMISSIONS_FILE: aFile(content) },
  });
  const declared = { permissions: [of('started:one', { keys: true })], removals: { 'a:three': 'drop' } };
  const { version } = await readCatalogue(roster.db);
  for (let i = 0; i < 2; i += 1) {
    const service = await startService(startWith(declared));
    service.kill('SIGTERM');
    await service.exited;
    expect(await catalogue()).toEqual(['started:one (keys)']);
  }
  expect((await readCatalogue(roster.db)).version).toBe(version + 1);

  const failed = launchService({ ...startWith({ permissions: [of('b:one'), of('b:one')] }) });
  expect((await failed.exited).code).toBe(1);
  expect(failed.complaint()).toMatch(/^roster: PERMISSIONS_FILE: \S+\.json: `b:one` is declared twice\.\n$/);
  expect(await catalogue()).toEqual(['started:one (keys)']);
});

// Guarantees that a misspelt permission does not compile, wherever the kit, the hooks or the operator's client take one.
test('types of the catalogue let programs name its permissions and those of Roster, and no others', async () => {
  const permissions = [
    { name: 'invoices:write', title: { en: 'Write */ invoices' } },
    { name: 'invoices:print', title: { de: 'Drucken' }, deprecated: true },
  ];
  writeFileSync(join(dir, 'catalogue.json'), JSON.stringify({ permissions }));
  expect(await run(roster.env, ['permissions', 'apply', join(dir, 'catalogue.json')])).toMatchObject({ code: 0 });
  const { version } = await readCatalogue(roster.db);
  const { stdout: printed } = await run(roster.env, ['permissions', 'types']);
  writeFileSync(join(dir, 'permissions.ts'), printed);
  expect(printed).toContain(`from version ${version} of the catalogue`);
  expect(printed).toContain("  /** Write * / invoices */\n  'invoices:write',");
  expect(printed).toContain("  /** Drucken (deprecated) */\n  'invoices:print',");

  const accepted = ['invoices:write', 'invoices:print', 'edit_team_settings'].flatMap(usesOf);
  const misspelt = usesOf('invoices:wirte');
  expect(await rejected([...accepted, ...misspelt])).toEqual(misspelt);
});
