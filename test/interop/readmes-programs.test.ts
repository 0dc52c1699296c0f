import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, expect } from 'vitest';
import { packClient } from '../clients/packed-client.ts';
import { SCOPES } from '../../src/entities/index.ts';
import { approveAt } from '../oauth/visit.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { freePort } from '../support/free-port.ts';
import { dispatch } from '../webhooks/receiver.ts';
import { runCommand, startCommand, temporaryFolder } from './programs.ts';
import {
  commandsIn,
  commandsOf,
  MINUTES,
  NPM_ENVIRONMENT,
  rosterCommandsOf,
  rosterFolder,
  runInRoster,
} from './readmes.ts';

const test = testWith(() => startApiAtItsAddress());

beforeAll(() => packClient());

const runHere = (commands: string, env: Readonly<Record<string, string>> = {}) =>
  runCommand(commands, { cwd: temporaryFolder(), env });

async function aTeamWithKey(api: Api, scopes: Parameters<Api['anApiKey']>[1]) {
  const account = await api.anAccount();
  await api.aTeam({ owner: account, name: 'Engines' });
  const { secret } = await api.anApiKey(account, scopes);
  return { 'http://localhost:3000': api.services.config.baseUrl, 'rst_pk_…': secret };
}

test('the curl tour runs in an empty folder by the commands of its README', async ({ api }) => {
  const commands = commandsOf('rest-curl', await aTeamWithKey(api, { scopes: SCOPES }));
  const tour = await runHere(commands, { ROSTER_URL: api.services.config.baseUrl });
  expect(tour.code, tour.stderr).toBe(0);
  expect(tour.stdout.match(/^ {2}\d{3} /gm)?.at(-1)).toBe('  401 ');
});

test('the report in Python runs in an empty folder by the commands of its README', async ({ api }) => {
  const commands = commandsOf('python-report', await aTeamWithKey(api, { scopes: ['teams:read', 'members:read'] }));
  const report = await runHere(commands);
  expect(report.code, report.stderr).toBe(0);
  expect(report.stdout).toMatch(/^Engines \(owner\)$/m);
});

test('the receiver of webhooks gets a test event by the commands of its README', MINUTES, async ({ api }) => {
  const PORT = String(await freePort());
  const created = await runInRoster(
    api,
    rosterCommandsOf('webhook-receiver', { 'localhost:4000': `localhost:${PORT}` }),
  );
  const [[secret = ''], [endpoint = '']] = [/whsec_\S+/.exec(created) ?? [], /whe_\w+/.exec(created) ?? []];
  const commands = commandsOf('webhook-receiver', {
    'http://localhost:3000': api.services.config.baseUrl,
    'whsec_…': secret,
  });
  const receiver = startCommand(commands, { cwd: temporaryFolder(), env: { ...NPM_ENVIRONMENT, PORT } });
  await receiver.prints(/listening/);
  dispatch(api);
  await runInRoster(
    api,
    commandsIn('webhook-receiver', /`(npm run -s roster -- webhook test .*?)`/, { 'whe_…': endpoint }),
  );
  await receiver.prints(/webhook\.test/);
});

test('the web app signs in by the commands of its README', MINUTES, async ({ api }) => {
  const account = await api.anAccount();
  const team = await api.aTeam({ owner: account, name: 'Engines' });
  const PORT = String(await freePort());
  const { id } = await api.anOAuthClient({ native: true, redirectUri: `http://127.0.0.1:${PORT}/callback` });
  const commands = commandsOf('oauth-web-app', {
    'http://localhost:3000': api.services.config.baseUrl,
    'client_…': id,
  });
  const app = startCommand(commands, { cwd: temporaryFolder(), env: { ...NPM_ENVIRONMENT, PORT } });
  await app.prints(/listening/);
  let cookie = '';
  const open = async (path: string) => {
    const answer = await fetch(new URL(path, `http://127.0.0.1:${PORT}`), { redirect: 'manual', headers: { cookie } });
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    return answer;
  };
  const authorizationUrl = new URL((await open('/sign-in')).headers.get('location') ?? '');
  await open((await approveAt(api, authorizationUrl, { account, team })).href);
  expect(await (await open('/')).text()).toContain('Engines');
});

/** The tables of Better Auth, as far as the export reads them. */
const BETTER_AUTH = `
  create schema better_auth;
  create table better_auth."user" (id text, name text, email text, "emailVerified" boolean, "createdAt" timestamp);
  create table better_auth.account ("userId" text, "providerId" text, password text);
  create table better_auth.organization (id text, name text, slug text);
  create table better_auth.member (id text, "organizationId" text, "userId" text, role text);
  insert into better_auth."user" values ('u1', 'Ann van Dam', 'ann@example.com', true, '2025-01-02'), ('u2', 'Bob Ray', 'bob@example.com', false, '2025-01-03');
  insert into better_auth.account values ('u1', 'credential', '$2b$04$abcdefghijklmnopqrstuuEVj6iVO4zP8sW3kJ2k8vXqYJ4k6mVnS'), ('u2', 'github', null);
  insert into better_auth.organization values ('o1', 'Acme', 'acme');
  insert into better_auth.member values ('m1', 'o1', 'u1', 'owner'), ('m2', 'o1', 'u2', 'member');`;

test('users, teams and members of Better Auth are imported by the statements and commands of the README', async ({
  api,
}) => {
  const client = new pg.Client({ connectionString: api.databaseUrl, options: '-c search_path=better_auth' });
  await client.connect();
  await client.query(BETTER_AUTH);
  const folder = rosterFolder();
  const lines: string[] = [];
  for (const statement of commandsIn('migrate-from', /```sql\n([\s\S]*?)```/, {})
    .split(';\n')
    .filter(Boolean)) {
    const { rows } = await client.query<unknown[]>({ text: statement, rowMode: 'array' });
    lines.push(...rows.map(([row]) => JSON.stringify(row)));
  }
  await client.end();
  writeFileSync(join(folder, 'export.ndjson'), lines.join('\n'));

  await runInRoster(api, rosterCommandsOf('migrate-from'), folder);
  expect(
    await api.rows(
      `select external_id, email, password_hash is null as "isNew" from account where external_id in ('u1', 'u2') order by 1`,
    ),
  ).toEqual([
    { external_id: 'u1', email: 'ann@example.com', isNew: false },
    { external_id: 'u2', email: 'bob@example.com', isNew: true },
  ]);
  expect(
    await api.rows(
      `select a.external_id, m.role_id from membership m join team t on t.id = m.team_id join account a on a.id = m.account_id where t.external_id = 'o1' order by 1`,
    ),
  ).toEqual([
    { external_id: 'u1', role_id: 'owner' },
    { external_id: 'u2', role_id: 'member' },
  ]);
});
