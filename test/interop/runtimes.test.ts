import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'vite';
import { describe, expect } from 'vitest';
import { installPackedClient } from '../clients/packed-client.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { generateSecret } from '../../src/crypto/webhook-secret.ts';
import { signatureHeaders } from '../../src/webhooks/signature.ts';
import { runProgram, temporaryFolder } from './programs.ts';

const test = testWith(() => startApiAtItsAddress());
const MODULES = join(import.meta.dirname, 'node_modules');

/** Loads the runtime, which only `npm run test:interop` installs. */
const openEdgeRuntime = () => {
  const { EdgeVM } = createRequire(import.meta.url)('@edge-runtime/vm') as {
    EdgeVM: new () => { evaluate(code: string): unknown };
  };
  return new EdgeVM();
};

/** Calls everything that the package has for backends. `env` has the address and credentials. */
const PROGRAM = `
import { createOperator, createRoster, followEvents, isRosterError, verifyWebhook } from '@roster/client';
import { createOAuth } from '@roster/client/oauth';
import { createRosterTrpc } from '@roster/client/trpc';

export async function main({ baseUrl, key, operatorKey, secret, webhook }) {
  const roster = createRoster({ baseUrl, credential: key });
  const { id: teamId } = await roster.createTeam({ name: 'Engines' });
  const code = await roster.getTeam({ teamId: 'team_x' }).catch((error) => isRosterError(error) && error.code);
  const stopped = await roster.listTeams({}, { signal: AbortSignal.abort() }).catch((error) => error.name);
  const operator = createOperator({ baseUrl, operatorKey });
  const request = new Request('http://api.test', { headers: { authorization: 'Bearer ' + key } });
  const { role } = await operator.authenticate(request, { teamId });
  const { lines } = await operator.createImport({ dryRun: true, rows: () => new Blob(['{}\\n{}\\n']).stream() });
  let events = 0;
  for await (const page of followEvents((input, call) => operator.listEvents(input, call), { wait: 0 })) events += page.events.length;
  const { type } = await verifyWebhook(webhook, secret);
  const { url } = await createOAuth({ baseUrl, clientId: 'c', redirectUri: 'http://app.test/' }).authorize({ scopes: ['teams:read'] });
  const teams = await createRosterTrpc({ baseUrl, credential: key }).listTeams.query();
  return { code, stopped, role: role.id, lines, events: events >= 0, type, pkce: url.searchParams.get('code_challenge_method'), teams: teams.length };
}
`;
const RESULT = {
  code: 'team_not_found',
  stopped: 'AbortError',
  role: 'owner',
  lines: 2,
  events: true,
  type: 'team.created',
  pkce: 'S256',
  teams: 1,
};

async function anEnvironment(api: Api) {
  const secret = generateSecret('hmac');
  const body = '{"type":"team.created"}';
  return {
    baseUrl: api.services.config.baseUrl,
    key: (await api.anApiKey(await api.anAccount(), { scopes: ['teams:read', 'teams:write'] })).secret,
    operatorKey: (await api.anOperatorKey()).secret,
    secret,
    webhook: { body, headers: signatureHeaders([secret], 'evt_1', new Date(), body) },
  };
}

/** An empty project with the packed client and a program. */
async function aProject(): Promise<string> {
  const dir = temporaryFolder();
  await installPackedClient(dir, ['@trpc/client', '@trpc/server', 'oauth4webapi']);
  writeFileSync(join(dir, 'program.js'), PROGRAM);
  return dir;
}

describe.for([
  ['20', join(MODULES, 'node-20/bin/node')],
  ['22', join(MODULES, 'node-22/bin/node')],
  ['24', process.execPath],
] as const)('the packed client on Node.js %s', ([version, node]) => {
  test('calls the REST, operator and tRPC APIs, verifies a webhook, and begins a sign-in', async ({ api }) => {
    const dir = await aProject();
    writeFileSync(
      join(dir, 'main.js'),
      `import { main } from './program.js';
      console.log(process.versions.node.split('.')[0], JSON.stringify(await main(JSON.parse(process.env.INPUT))));`,
    );
    const env = { INPUT: JSON.stringify(await anEnvironment(api)) };
    const { stdout, stderr } = await runProgram(node, [join(dir, 'main.js')], { cwd: dir, env });
    expect(stderr).toBe('');
    expect([stdout.slice(0, 2), JSON.parse(stdout.slice(3))]).toEqual([version, RESULT]);
  });
});

test('the packed client runs where there is nothing but fetch and other interfaces of the web', async ({ api }) => {
  const dir = await aProject();
  await build({
    root: dir,
    logLevel: 'error',
    configFile: false,
    build: { lib: { entry: join(dir, 'program.js'), formats: ['iife'], name: 'program', fileName: 'bundle' } },
  });
  const runtime = openEdgeRuntime();
  expect(runtime.evaluate('[typeof process, typeof Buffer, typeof require, typeof fetch]')).toEqual([
    'undefined',
    'undefined',
    'undefined',
    'function',
  ]);
  runtime.evaluate(readFileSync(join(dir, 'dist/bundle.iife.js'), 'utf8'));
  const input = JSON.stringify(await anEnvironment(api));
  expect(await runtime.evaluate(`program.main(${input})`)).toEqual(RESULT);
});
