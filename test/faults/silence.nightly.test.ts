import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';
import { startProxy } from '../jobs/proxy.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import { startApi } from '../support/api.ts';
import { createClient, type Caller } from '../support/client.ts';
import { makeDataDir, removeDataDir, startService } from '../support/service.ts';

// A statement, the login of a new connection and the search for the primary are each bounded; the rest is for a busy machine.
const BOUND = { interval: 200, timeout: PATIENCE_MS };

/** A service whose connections to PostgreSQL can go silent, and another one on the same database. */
async function aServiceBehindANetwork() {
  const direct = await startApi();
  const url = new URL(direct.databaseUrl);
  const network = await startProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(network.port);
  const dataDir = makeDataDir();
  const env = { DATABASE_URL: url.href, SECRET_KEYS: 'test-key-test-key-test-key-test-key', RATE_LIMIT: '1000000' };
  const service = await startService({ dataDir, env });
  const client = createClient(service.port, undefined);
  onTestFinished(async () => {
    client.close();
    service.kill('SIGKILL');
    await service.exited;
    await network.cut();
    await direct.close();
    await removeDataDir(dataDir);
  });
  const owner = await direct.anAccount();
  const key = await direct.anApiKey(owner, { scopes: ALL_SCOPES });
  const teams = await Promise.all(Array.from({ length: 6 }, () => direct.aTeam({ owner })));
  return { direct, network, service, dataDir, owner, key, teams, remote: client.as(key) };
}

const rename = async (caller: Caller, team: { id: string }, name: string): Promise<number> =>
  (await caller.patch(`/api/v1/teams/${team.id}`, { name })).status;

test('of connections that go silent without an end, none stays in use: reads, writes and jobs go on', async () => {
  const { network, service, dataDir, teams, remote } = await aServiceBehindANetwork();
  const [team] = teams;
  const readAll = () => Promise.all(teams.map(async ({ id }) => (await remote.get(`/api/v1/teams/${id}`)).status));
  const renameAll = () => Promise.all(teams.map((each, i) => rename(remote, each, `Name ${i}`)));
  const all200 = teams.map(() => 200);
  expect([await readAll(), await renameAll()]).toEqual([all200, all200]);

  network.silence();

  const during = await Promise.all([readAll(), renameAll()]);
  expect(during.flat().filter((status) => status !== 200 && status !== 503)).toEqual([]);
  await expect.poll(readAll, BOUND).toEqual(all200);
  await expect.poll(renameAll, BOUND).toEqual(all200);
  const invited = await remote.post(`/api/v1/teams/${team?.id}/invitations`, { email: 'ada@example.com' });
  expect(invited.status).toBe(201);
  const mails = join(dataDir, 'mail'); // made for the first mail
  // A statement of the queue and the next look for jobs: not until TCP gives the connections up.
  await expect.poll(() => (existsSync(mails) ? readdirSync(mails).length : 0), BOUND).toBe(1);
  expect(service.complaint()).toBe('');
});

test('a transaction of a process that went silent keeps its locks for seconds, not for hours', async () => {
  const { direct, network, owner, key, teams, remote } = await aServiceBehindANetwork();
  const [team = { id: '' }] = teams;
  const member = await direct.anAccount();
  await direct.aMember(team, member);
  const path = `/api/v1/teams/${team.id}/members/${member.id}`;
  const admin = new pg.Client({ connectionString: direct.databaseUrl });
  await admin.connect();
  onTestFinished(() => admin.end());
  const statesOf = async () =>
    (
      await direct.rows<{ state: string; waits: boolean }>(
        `select state, wait_event_type = 'Lock' as waits from pg_stat_activity
       where datname = current_database() and xact_start is not null and pid <> pg_backend_pid() and pid <> ${await pidOf(admin)}`,
      )
    ).map(({ state, waits }) => (waits ? 'waits' : state));
  // So that it goes silent inside of its transaction.
  await admin.query('begin');
  await admin.query('select from team where id = $1 for update', [team.id]);
  const silent = remote.delete(path).catch(() => undefined);
  await expect.poll(statesOf, BOUND).toContain('waits');
  network.silence();
  await admin.query('commit');
  await expect.poll(statesOf, BOUND).toContain('idle in transaction');

  await expect.poll(() => rename(direct.as(key), team, 'Rockets'), BOUND).toBe(200);

  expect(await statesOf()).not.toContain('idle in transaction');
  expect((await silent)?.status).toBe(503);
  expect((await direct.as(await direct.anApiKey(owner, { scopes: ALL_SCOPES })).delete(path)).status).toBe(200);
});

async function pidOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}
