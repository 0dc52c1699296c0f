import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { API_FACE } from '../../src/rest/api-face.ts';
import { describeFace } from '../../src/rest/describe-face.ts';
import { OPERATOR_FACE } from '../../src/rest/operator-face.ts';
import { apiRouter, operatorRouter } from '../../src/router.ts';
import { test } from '../support/api.ts';
import { installPackedClient, TSC } from './packed-client.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
/** Of all JavaScript together but that of the server kit, as it is before a bundler minifies it. */
const CODE_SIZE_MAX = 48_000;
const SERVER_KIT_SIZE_MAX = 52_000;
/** Of each file of types. Those of the procedures grow with the service. */
const TYPES_SIZE_MAX = 200_000;
/** What a page loads for `createRoster` alone, minified. */
const BUNDLE_SIZE_MAX = 5_000;
type Printed = { readonly stdout: string };
const dir = mkdtempSync(join(tmpdir(), 'roster-client-'));
let installed = '';

beforeAll(async () => {
  installed = await installPackedClient(dir, [
    '@tanstack/query-core',
    '@tanstack/react-query',
    '@trpc/client',
    '@trpc/server',
    '@types/react',
    'csstype',
    'jose',
    'oauth4webapi',
    'react',
  ]);
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        module: 'nodenext',
        target: 'es2022',
        lib: ['es2022', 'esnext.disposable', 'dom', 'dom.iterable'],
        types: [],
        preserveSymlinks: true,
      },
      files: ['program.ts'],
    }),
  );
}, 60_000);

afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Compiles a program to `program.js`. @returns the errors of the compiler */
async function compile(...lines: string[]): Promise<string> {
  writeFileSync(join(dir, 'program.ts'), lines.join('\n'));
  return run(process.execPath, [TSC, '-p', dir]).then(
    () => '',
    (error: unknown) => String((error as { stdout: string }).stdout), // what execFile rejects with
  );
}

describe('the packed client', () => {
  test('has no dependencies, and is small', () => {
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<
      string,
      object
    >;
    expect(dependencies).toBeUndefined();
    const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const sizes = files.map(({ parentPath, name }) => ({
      name,
      isOfServerKit: ['server.js', 'app-procedures.js'].includes(name) || basename(parentPath) === 'server',
      bytes: readFileSync(join(parentPath, name)).length,
    }));
    const code = sizes.filter(({ name }) => name.endsWith('.js'));
    const sizeOf = (some: typeof code) => some.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(code.length).toBeGreaterThan(5);
    expect(sizeOf(code.filter(({ isOfServerKit }) => !isOfServerKit))).toBeLessThan(CODE_SIZE_MAX);
    expect(sizeOf(code.filter(({ isOfServerKit }) => isOfServerKit))).toBeLessThan(SERVER_KIT_SIZE_MAX);
    expect(sizes.filter(({ bytes }) => bytes > TYPES_SIZE_MAX)).toEqual([]);
    expect(files.map(({ name }) => name).filter((name) => !/\.(js|d\.ts|json|md)$/.test(name))).toEqual([]);
  });

  test('compiles under strict with all declarations checked, and runs under this Node and the one on PATH', async ({
    api,
  }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:read', 'teams:write'] });
    expect(
      await compile(
        `import { createRoster, isRosterError, type AnyPermission } from '@roster/client';`,
        `import { createOAuth } from '@roster/client/oauth';`,
        `import { createRosterTrpc } from '@roster/client/trpc';`,
        `import { Protect, RosterProvider, useSession, useTeamSwitcher } from '@roster/client/react';`,
        `import { createRosterAuth, toExpress } from '@roster/client/server';`,
        `export const hooks = { Protect, RosterProvider, useSession, useTeamSwitcher };`,
        `export const signIn = (secret: string) => toExpress(createRosterAuth({ baseUrl: 'https://a.example', appUrl: 'https://b.example', clientId: 'c', clientSecret: 's', secret }));`,
        `export const any = (permission: string): AnyPermission => permission;`,
        `const { baseUrl: service } = { baseUrl: 'http://127.0.0.1' };`,
        `export const oauth = createOAuth({ baseUrl: service, clientId: 'c', redirectUri: service });`,
        `const options = { baseUrl: 'http://127.0.0.1:${api.port}', credential: '${key.secret}' };`,
        `const roster = createRoster(options);`,
        `const team = await roster.createTeam({ name: 'Engines' });`,
        `const failed: string = await roster.getTeam({ teamId: 'team_x' }).then(() => '', (error: unknown) => isRosterError(error, 'getTeam') && error.code === 'team_not_found' ? error.code : 'other');`,
        `const teams = await createRosterTrpc(options).listTeams.query();`,
        `console.log(JSON.stringify([team.name, failed, teams.map(({ name }) => name)]));`,
      ),
    ).toBe('');
    for (const node of [process.execPath, 'node']) {
      const { stdout } = await run(node, [join(dir, 'program.js')]);
      expect(JSON.parse(stdout)).toMatchObject(['Engines', 'team_not_found', expect.arrayContaining(['Engines'])]);
    }
  });

  // Guarantees that no call fails because of how many are made at once, or how long their inputs are together.
  test('tRPC calls of one tick go in batches of at most 20, in URLs of at most 8,000 characters, with typed problems', async ({
    api,
  }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:read'] });
    expect(
      await compile(
        `import { createRosterTrpc, isRosterTrpcError } from '@roster/client/trpc';`,
        `const urls: string[] = [];`,
        `const trpc = createRosterTrpc({`,
        `  baseUrl: 'http://127.0.0.1:${api.port}', credential: '${key.secret}',`,
        `  fetch: (url, init) => (urls.push(String(url)), fetch(url as string, init as RequestInit)),`,
        `});`,
        `const teams = await Promise.all(Array.from({ length: 45 }, () => trpc.listTeams.query()));`,
        `const batches = urls.splice(0).map((url) => new URL(url).pathname.split(',').length);`,
        `const codes = await Promise.all(Array.from({ length: 20 }, (_, n) =>`,
        `  trpc.getTeam.query({ teamId: 'é'.repeat(200) + n }).then(() => 'found', (error: unknown): string | undefined =>`,
        `    isRosterTrpcError(error) ? error.data?.problem.code : undefined)));`,
        `console.log(JSON.stringify({ answers: teams.length, batches, lengths: urls.map(({ length }) => length), codes: [...new Set(codes)] }));`,
      ),
    ).toBe('');
    const { stdout } = await run(process.execPath, [join(dir, 'program.js')]);
    const { lengths, ...rest } = JSON.parse(stdout) as { lengths: number[] };
    expect(rest).toEqual({ answers: 45, batches: [20, 20, 5], codes: ['team_not_found'] });
    expect(lengths.length).toBeGreaterThan(2);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(8000);
  });

  test('bundles for a page: few kilobytes, nothing of other packages and nothing of Node.js', async () => {
    writeFileSync(join(dir, 'page.js'), `export { createRoster } from '@roster/client';`);
    const bundle = await build({
      root: dir,
      logLevel: 'error',
      configFile: false,
      // As a script, because Vite does not remove the whitespace of libraries that are modules.
      build: { write: false, lib: { entry: join(dir, 'page.js'), formats: ['iife'], name: 'client' }, minify: true },
    });
    const chunks = [bundle].flat().flatMap((built) => ('output' in built ? built.output : []));
    const [code = ''] = chunks.map((chunk) => (chunk.type === 'chunk' ? chunk.code : ''));
    expect(code.length).toBeLessThan(BUNDLE_SIZE_MAX);
    expect(code).not.toMatch(/node:|require\(|^import|whsec_/m);
  });

  test('has the types of the router in one file, for projects that have nothing but @trpc/server', async () => {
    const bare = mkdtempSync(join(tmpdir(), 'roster-router-'));
    onTestFinished(() => rmSync(bare, { recursive: true, force: true }));
    cpSync(installed, join(bare, 'node_modules/@roster/client'), { recursive: true });
    mkdirSync(join(bare, 'node_modules/@trpc'));
    symlinkSync(join(ROOT, 'node_modules/@trpc/server'), join(bare, 'node_modules/@trpc/server'));
    cpSync(join(dir, 'package.json'), join(bare, 'package.json'));
    cpSync(join(dir, 'tsconfig.json'), join(bare, 'tsconfig.json'));
    writeFileSync(
      join(bare, 'program.ts'),
      `import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
      import type { AppRouter, ErrorShape, Team } from '@roster/client/router';
      export const input: inferRouterInputs<AppRouter>['getTeam'] = { teamId: 'team_1' };
      export const name = (team: inferRouterOutputs<AppRouter>['getTeam']): string => (team satisfies Team).name;
      export const codeOf = (error: ErrorShape): string => error.data.problem.code;`,
    );
    const { stdout } = await run(process.execPath, [TSC, '-p', bare]).catch((error: unknown) => error as Printed);
    expect(stdout).toBe('');
    const declarations = readFileSync(join(bare, 'node_modules/@roster/client/dist/generated/router.d.ts'), 'utf8');
    expect([...declarations.matchAll(/from '([^']+)'/g)].map(([, from]) => from)).toEqual(['@trpc/server']);
  });

  test('links to nothing outside of itself', () => {
    const links = [...readFileSync(join(installed, 'README.md'), 'utf8').matchAll(/\]\(([^)]+)\)/g)].map(
      ([, to]) => to,
    );
    expect(links.filter((to) => !/^(https:|#)/.test(to ?? ''))).toEqual([]);
  });

  test('compiles all TypeScript samples of both references', async () => {
    const samples = (
      [
        [API_FACE, apiRouter],
        [OPERATOR_FACE, operatorRouter],
      ] as const
    ).flatMap(([face, router]) =>
      Object.values(describeFace(face, router, 'https://teams.example.com').document.paths ?? {})
        .flatMap((item) => Object.values(item) as { 'x-codeSamples': { label: string; source: string }[] }[])
        .flatMap((operation) => operation['x-codeSamples'].filter(({ label }) => label === 'TypeScript')),
    );
    expect(samples.length).toBeGreaterThan(50);
    const programs = samples.map(({ source }) => `{${source.replaceAll(/^import .*$/gm, '')}\n}`);
    expect(
      await compile(
        `import { createOperator, createRoster } from '@roster/client';`,
        `declare const process: { env: Record<string, string | undefined> };`,
        `declare function openAsBlob(path: string): Promise<Blob>;`,
        ...programs,
      ),
    ).toBe('');
  });

  test('rejects a wrong input, a wrong reading of a result, and a code of another operation', async () => {
    const imports = [
      `import { createRoster, isRosterError, type ErrorCode } from '@roster/client';`,
      `import { createRosterTrpc, isRosterTrpcError } from '@roster/client/trpc';`,
      `import { createQuery, useChangeMember } from '@roster/client/react';`,
      `const options = { baseUrl: 'http://localhost', credential: 'x' };`,
    ];
    const errors = await compile(
      ...imports,
      `void createRoster(options).updateTeam({ teamId: 'team_1', name: 7 });`,
      `export const n: Promise<number> = createRosterTrpc(options).getMe.query().then((me) => me.email);`,
      `void createRosterTrpc(options).updateTeam.mutate({ teamId: 'team_1', name: 7 });`,
      `export const problem = (error: unknown): number | undefined => isRosterTrpcError(error) ? error.data?.problem.code : 0;`,
      `export const query = createQuery(createRosterTrpc(options))('getTeam');`,
      `export const change = () => useChangeMember('team_1').mutate({ accountId: 'acc_1' });`,
      `export const known: Extract<ErrorCode<'getTeam'>, 'seat_limit_reached'> = 'seat_limit_reached' as const;`,
      `export const ofOperator: Extract<ErrorCode<'verifyCredential'>, 'already_taken'> = 'already_taken' as const;`,
      // Correct: the codes of the operator's operations, and of both where both have the name.
      `export const taken: Extract<ErrorCode<'createAccount'>, 'already_taken'> = 'already_taken' as const;`,
      `export const both: Extract<ErrorCode<'getTeam'>, 'team_not_found' | 'address_not_allowed'>[] = ['team_not_found', 'address_not_allowed'];`,
      `export const read = (error: unknown) => isRosterError(error, 'createAccount') && error.code === 'already_taken';`,
      `export const unknown = (error: unknown) => isRosterError(error, 'createAcount');`,
    );
    expect(errors.match(/program\.ts\(\d+/g)).toEqual(
      [5, 6, 7, 8, 9, 10, 11, 12, 16].map((line) => `program.ts(${line}`),
    );
  });
});
