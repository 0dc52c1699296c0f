import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { startApi, test } from '../support/api.ts';
import { freePort } from '../support/free-port.ts';

/** The URL with more servers before its own. */
const withHosts = (url: string, ...hosts: readonly string[]): string => url.replace('@', `@${hosts.join(',')},`);

test('of several hosts in DATABASE_URL, the one that accepts writes serves', async ({ api }) => {
  const url = `${withHosts(api.databaseUrl, `127.0.0.1:${await freePort()}`)}?target_session_attrs=read-write`;
  const service = await startApi({}, { databaseUrl: url });
  onTestFinished(() => service.close());
  const owner = await service.anAccount();
  const key = await service.anApiKey(owner, { scopes: ['teams:read', 'teams:write'] });

  expect((await service.anonymous.get('/readyz')).status).toBe(200);
  expect((await service.as(key).post('/api/v1/teams', { name: 'Rockets' })).status).toBe(201);
});

test('after one write that a server denied as read-only, reads leave it as well, until it accepts writes', async () => {
  const service = await startApi();
  const admin = new pg.Client({ connectionString: service.databaseUrl });
  await admin.connect();
  onTestFinished(async () => {
    await admin.end();
    await service.close();
  });
  const owner = await service.anAccount();
  const team = await service.aTeam({ owner });
  const client = service.as(await service.anApiKey(owner, { scopes: ['teams:read', 'teams:write'] }));
  const setReadOnly = (state: 'on' | 'off') =>
    admin.query(`alter database ${new URL(service.databaseUrl).pathname.slice(1)}
      set default_transaction_read_only = ${state}`);
  const read = async () => (await client.get(`/api/v1/teams/${team.id}`)).status;
  const rename = async () => (await client.patch(`/api/v1/teams/${team.id}`, { name: 'Renamed' })).status;
  await admin.query(`create function deny() returns trigger language plpgsql as
    $$ begin raise exception 'read-only' using errcode = '25006'; end $$`);
  await admin.query('create trigger deny before update on team for each row execute function deny()');
  expect(await read()).toBe(200);
  await setReadOnly('on'); // for new connections

  expect(await read()).toBe(200);
  expect(await rename()).toBe(503);
  expect(await read()).toBe(503);
  expect((await service.anonymous.get('/readyz')).body.reason).toBe('the database is read-only');

  await setReadOnly('off');
  await admin.query('drop function deny cascade');
  expect(await read()).toBe(200);
  expect(await rename()).toBe(200);
});
