import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { program, run, temporaryFolder } from './programs.ts';

const test = testWith(() => startApiAtItsAddress());
const TSC = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');

type Generator = {
  readonly name: string;
  /** Generates a client from `openapi.json` into `client`. */
  readonly command: readonly [name: string, ...args: string[]];
  readonly config?: (baseUrl: string) => Readonly<Record<string, string>>;
  /** A program that creates a team, invites by `{ email }`, lists the members, and reads the code of an error. */
  readonly program: readonly string[];
};

const PRINT = 'console.log(JSON.stringify({ created, invited, members, code }));';

const GENERATORS: readonly Generator[] = [
  {
    name: 'openapi-typescript',
    command: ['openapi-typescript', 'openapi.json', '--output', 'client/schema.ts'],
    program: [
      `import createClient from 'openapi-fetch';`,
      `import type { paths } from './client/schema.ts';`,
      `const headers = { authorization: \`Bearer \${process.env.KEY}\` };`,
      `const client = createClient<paths>({ baseUrl: process.env.BASE_URL!, headers });`,
      `const { data: team } = await client.POST('/api/v1/teams', { body: { name: 'Engines' } });`,
      `const created: string = team!.name;`,
      `const path = { teamId: team!.id };`,
      `const invite = await client.POST('/api/v1/teams/{teamId}/invitations', { params: { path }, body: { email: 'ada@example.com' } });`,
      `const invited: boolean = invite.data!.success;`,
      `const list = await client.GET('/api/v1/teams/{teamId}/members', { params: { path } });`,
      `const members: number = list.data!.length;`,
      `const missing = await client.GET('/api/v1/teams/{teamId}', { params: { path: { teamId: 'team_x' } } });`,
      `const code: string = missing.error!.code;`,
      PRINT,
    ],
  },
  {
    name: '@hey-api/openapi-ts',
    command: ['openapi-ts', '--input', 'openapi.json', '--output', 'client'],
    program: [
      `import { client } from './client/client.gen';`,
      `import { createTeam, createTeamInvitation, getTeam, listTeamMembers } from './client';`,
      `client.setConfig({ baseUrl: process.env.BASE_URL!, auth: process.env.KEY! });`,
      `const { data: team } = await createTeam({ body: { name: 'Engines' } });`,
      `const created: string = team!.name;`,
      `const path = { teamId: team!.id };`,
      `const invite = await createTeamInvitation({ path, body: { email: 'ada@example.com' } });`,
      `const invited: boolean = invite.data!.success;`,
      `const members: number = (await listTeamMembers({ path })).data!.length;`,
      `const missing = await getTeam({ path: { teamId: 'team_x' } });`,
      `const code: string = missing.error!.code;`,
      PRINT,
    ],
  },
  {
    name: 'orval',
    command: ['orval', '--config', 'orval.config.mjs'],
    config: (baseUrl) => ({
      'orval.config.mjs': `export default { roster: { input: './openapi.json', output: { target: './client/roster.ts', client: 'fetch', baseUrl: '${baseUrl}' } } };`,
    }),
    program: [
      `import { createTeam, createTeamInvitation, getTeam, listTeamMembers } from './client/roster.ts';`,
      `const options = { headers: { authorization: \`Bearer \${process.env.KEY}\` } };`,
      `const team = await createTeam({ name: 'Engines' }, options);`,
      `if (team.status !== 201) throw new Error('no team');`,
      `const created: string = team.data.name;`,
      `const invite = await createTeamInvitation(team.data.id, { email: 'ada@example.com' }, options);`,
      `const invited: boolean = invite.status === 201 && invite.data.success;`,
      `const list = await listTeamMembers(team.data.id, options);`,
      `const members: number = list.status === 200 ? list.data.length : 0;`,
      `const missing = await getTeam('team_x', options);`,
      `const code: string = missing.status === 404 ? missing.data.code : '';`,
      PRINT,
    ],
  },
];

/** A project with the generated client, and what TypeScript says about the program that uses it. */
async function generate(api: Api, generator: Generator) {
  const { baseUrl } = api.services.config;
  const cwd = temporaryFolder();
  symlinkSync(join(import.meta.dirname, 'node_modules'), join(cwd, 'node_modules'));
  mkdirSync(join(cwd, 'client'));
  const files: Record<string, string> = {
    'package.json': JSON.stringify({ type: 'module' }),
    'openapi.json': await (await fetch(`${baseUrl}/api/v1/openapi.json`)).text(),
    'program.ts': generator.program.join('\n'),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        strict: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: true,
        target: 'es2022',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2022', 'dom', 'dom.iterable'],
        allowImportingTsExtensions: true,
        noEmit: true,
        types: ['node'],
      },
      files: ['program.ts'],
    }),
    ...generator.config?.(baseUrl),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const [name, ...args] = generator.command;
  const generated = await program(name, args, { cwd });
  if (generated.code !== 0) throw new Error(`${name}: ${generated.stdout}${generated.stderr}`);
  return { cwd, compiled: await run([TSC, '-p', '.'], { cwd }) };
}

describe.for(GENERATORS)('the client that $name generates', (generator) => {
  test('compiles under strict, takes a body without members that have a default, and runs', async ({ api }) => {
    const { cwd, compiled } = await generate(api, generator);
    expect([compiled.stdout, compiled.code]).toEqual(['', 0]);

    const key = await api.anApiKey(await api.anAccount(), {
      scopes: ['teams:read', 'teams:write', 'invites:write', 'members:read'],
    });
    const env = { KEY: key.secret, BASE_URL: api.services.config.baseUrl };
    await program('rolldown', ['program.ts', '--file', 'program.mjs', '--platform', 'node'], { cwd });
    const { stdout, stderr } = await run(['program.mjs'], { cwd, env });
    expect([stderr, stdout]).toEqual(['', expect.stringContaining('{')]);
    expect(JSON.parse(stdout)).toEqual({ created: 'Engines', invited: true, members: 1, code: 'team_not_found' });
  });
});
