import pg from 'pg';
import { describe, expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { buildRoutes, type Route } from '../../src/rest/routes.ts';
import { appRouter } from '../../src/router.ts';
import { startApi, test, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';
import { ALL_SCOPES, OPERATIONS } from './operations.ts';

const POSTS = OPERATIONS.filter(({ method }) => method === 'POST');

type Credential = { readonly secret: string };

const post = (api: Api, credential: Credential, path: string, key: string, body: unknown): Promise<Answer> =>
  api.as(credential).send({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });

async function anOwner(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const key = await api.anApiKey(owner, { scopes: ALL_SCOPES });
  return { owner, team, key };
}

const count = async (api: Api, sql: string, values: readonly unknown[] = []): Promise<number> => {
  const [row] = await api.rows<{ count: string }>(sql, values);
  return Number(row?.count);
};

const countTeams = (api: Api, { id }: { id: string }) =>
  count(api, `select count(*) from membership where account_id = $1 and role_id = 'owner'`, [id]);

const inParallel = <Result>(calls: number, call: (i: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: calls }, (_, i) => call(i)));

describe('a POST with an Idempotency-Key', () => {
  test.for(POSTS)(
    '$id: repeated, takes effect once and has one answer',
    async ({ id, path, body, status }, { api }) => {
      const { owner, team, key } = await anOwner(api);
      const target = path.replace('{teamId}', team.id);
      const first = await post(api, key, target, 'once', body);
      const events = await count(api, 'select count(*) from audit_event where credential_id = $1', [key.id]);
      const again = await post(api, key, target, 'once', body);

      expect(first.status).toBe(status);
      expect(events).toBeGreaterThan(0);
      expect(await count(api, 'select count(*) from audit_event where credential_id = $1', [key.id])).toBe(events);
      if (id === 'createApiKey') {
        expect(again).toBeProblem('idempotency_key_reused');
        expect(again.body.detail).toContain(first.body.key.id);
        expect(await count(api, 'select count(*) from api_key where account_id = $1', [owner.id])).toBe(2);
      } else {
        expect([again.status, again.body]).toEqual([first.status, first.body]);
      }
    },
  );

  test('never stores an answer with a secret: each operation that has one says so', () => {
    const hasSecret = ({ output }: Route) =>
      output instanceof z.ZodObject && ('secret' in output.shape || 'clientSecret' in output.shape);
    const routes = buildRoutes(appRouter._def.procedures).routes.filter((route) => route.takesIdempotencyKey);

    expect(routes.filter(hasSecret).map(({ operationId }) => operationId)).toEqual(
      routes.filter(({ meta }) => meta.secretOf !== undefined).map(({ operationId }) => operationId),
    );
    expect(routes.filter(hasSecret)).not.toEqual([]);
  });

  test('sent 50 times at once, over two replicas, takes effect once and has one answer', async () => {
    const one = await startApi();
    onTestFinished(() => one.close());
    const other = await startApi({}, one);
    onTestFinished(() => other.close());
    const { owner, key } = await anOwner(one);

    const answers = await inParallel(50, (i) =>
      post(i % 2 === 0 ? one : other, key, '/api/v1/teams', 'at-once', { name: 'Rockets' }),
    );

    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(await countTeams(one, owner)).toBe(2);
  });

  test('is refused with another body, and again accepted with the first', async ({ api }) => {
    const { owner, key } = await anOwner(api);
    const first = await post(api, key, '/api/v1/teams', 'k', { name: 'Rockets', description: 'Fast.' });

    expect(await post(api, key, '/api/v1/teams', 'k', { name: 'Kites' })).toBeProblem('idempotency_key_reused');
    const again = await post(api, key, '/api/v1/teams', 'k', { description: 'Fast.', unknown: 1, name: 'Rockets' });
    expect(again.body).toEqual(first.body);
    expect(await countTeams(api, owner)).toBe(2);
  });

  test('belongs to its credential and its operation', async ({ api }) => {
    const { owner, team, key } = await anOwner(api);
    const otherKey = await api.anApiKey(owner, { scopes: ALL_SCOPES });
    const answers = [
      await post(api, key, '/api/v1/teams', 'k', { name: 'Rockets' }),
      await post(api, otherKey, '/api/v1/teams', 'k', { name: 'Rockets' }),
      await post(api, key, '/api/v1/api-keys', 'k', { name: 'Rockets', scopes: ['teams:read'] }),
      await post(api, key, `/api/v1/teams/${team.id}/invitations`, 'k', {
        email: 'a@b.example',
        roleId: 'member',
        isSystemRole: true,
      }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(await countTeams(api, owner)).toBe(3);
  });

  test('is not used up by input that is refused, nor by a rule that refuses the call', async ({ api }) => {
    const { owner, team, key } = await anOwner(api);
    const invite = (body: object) => post(api, key, `/api/v1/teams/${team.id}/invitations`, 'k', body);
    const body = { email: 'ada@example.com', roleId: 'member', isSystemRole: true };

    expect(await invite({ ...body, email: 'nobody' })).toBeProblem('validation_failed');
    expect(await invite({ ...body, roleId: 'unknown' })).toBeProblem('validation_failed');
    for (let i = 0; i < 4; i++) await api.aMember(team, await api.anAccount());
    expect(await invite(body)).toBeProblem('seat_limit_reached');
    await api.rows('delete from membership where team_id = $1 and account_id <> $2', [team.id, owner.id]);

    expect((await invite(body)).status).toBe(201);
    expect(await count(api, 'select count(*) from invitation where team_id = $1', [team.id])).toBe(1);
  });

  test('gives nothing to a credential that was revoked, nor to a member who has lost the permission', async ({
    api,
  }) => {
    const { owner, team, key } = await anOwner(api);
    const path = `/api/v1/teams/${team.id}/invitations`;
    const body = { email: 'ada@example.com', roleId: 'guest', isSystemRole: true };
    const inviter = await api.anAccount();
    await api.aMember(team, inviter, { role: (await api.aRole(team, ['invite_members'])).id });
    const ofInviter = await api.anApiKey(inviter, { scopes: ALL_SCOPES });
    await post(api, key, path, 'k', body);
    await post(api, ofInviter, path, 'k', body);

    await api.as(key).delete(`/api/v1/api-keys/${key.id}`);
    expect(await post(api, key, path, 'k', body)).toBeProblem('credential_invalid');
    await api.rows(`update membership set role_id = 'guest' where account_id = $1`, [inviter.id]);
    expect(await post(api, ofInviter, path, 'k', body)).toBeProblem('permission_missing');
    await api.rows('delete from membership where account_id = $1', [inviter.id]);
    expect(await post(api, ofInviter, path, 'k', body)).toBeProblem('team_not_found');
    expect(await countTeams(api, owner)).toBe(1);
  });

  test('is new again after 24 hours', async ({ api }) => {
    const { owner, key } = await anOwner(api);
    const age = (interval: string) =>
      api.rows(`update idempotency_key set created_at = now() - interval '${interval}' where credential_id = $1`, [
        key.id,
      ]);
    const first = await post(api, key, '/api/v1/teams', 'k', { name: 'Rockets' });
    await age('23 hours 59 minutes');
    expect((await post(api, key, '/api/v1/teams', 'k', { name: 'Rockets' })).body).toEqual(first.body);
    await age('24 hours');

    const second = await post(api, key, '/api/v1/teams', 'k', { name: 'Kites' });
    expect(second.body.name).toBe('Kites');
    expect((await post(api, key, '/api/v1/teams', 'k', { name: 'Kites' })).body).toEqual(second.body);
    expect(await countTeams(api, owner)).toBe(3);
  });

  test('stores neither the key nor what was sent and answered, in a form that the database can reveal', async ({
    api,
  }) => {
    const { key } = await anOwner(api);
    await post(api, key, '/api/v1/teams', 'a-key-of-mine', { name: 'Confidential' });
    const { body } = await post(api, key, '/api/v1/api-keys', 'a-key-of-mine', { name: 'k', scopes: ['teams:read'] });

    const rows = await api.rows<{ row: string }>(
      `select row_to_json(k)::text || encode(fingerprint, 'escape') as row from idempotency_key k where credential_id = $1`,
      [key.id],
    );
    expect(rows).toHaveLength(2);
    for (const { row } of rows) {
      for (const text of ['a-key-of-mine', 'Confidential', body.secret]) expect(row).not.toContain(text);
    }
    expect(rows.filter(({ row }) => row.includes(body.key.id))).toHaveLength(1);
  });

  test.for<[string, string]>([
    ['"k-1"', 'k-1'],
    ['"with space"', '"with space"'],
    [String.raw`"a\"b\\c"`, String.raw`"a\"b\\c"`],
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '"8e03978e-40d5-43dd-bc93-6894a57f9324"'],
    ['k'.repeat(255), `"${'k'.repeat(255)}"`],
  ])('%s is the same key as %s', async ([one, same], { api }) => {
    const { key } = await anOwner(api);
    const first = await post(api, key, '/api/v1/teams', one, { name: 'Rockets' });
    const again = await post(api, key, '/api/v1/teams', same, { name: 'Rockets' });

    expect(first.status).toBe(201);
    expect(again.body).toEqual(first.body);
  });

  test.for<[string, string]>([
    ['', 'min_length'],
    ['""', 'min_length'],
    ['k'.repeat(256), 'max_length'],
    ['two words', 'invalid_format'],
    ['"open', 'invalid_format'],
    ['"a", "b"', 'invalid_format'],
    ['schlüssel', 'invalid_format'],
  ])('%o is refused, together with what is wrong in the body', async ([header, code], { api }) => {
    const { owner, key } = await anOwner(api);
    const sent = {
      method: 'POST',
      path: '/api/v1/teams',
      headers: { 'content-type': 'application/json', 'idempotency-key': Buffer.from(header).toString('latin1') },
    };
    const answer = await api.as(key).send({ ...sent, body: '{}' });

    expect(answer).toBeProblem('validation_failed');
    expect(answer.body.errors).toEqual([
      expect.objectContaining({ in: 'header', pointer: '/Idempotency-Key', code }),
      { in: 'body', pointer: '/name', code: 'required' },
    ]);
    expect(await api.as(key).send({ ...sent, body: '{"name":"Rockets"}' })).toBeProblem('validation_failed');
    expect(await countTeams(api, owner)).toBe(1);
  });

  test('two headers are refused', async ({ api }) => {
    const { key } = await anOwner(api);
    const answer = await api.as(key).send({
      method: 'POST',
      path: '/api/v1/teams',
      headers: { 'content-type': 'application/json', 'idempotency-key': ['a', 'b'] },
      body: '{"name":"Rockets"}',
    });

    expect(answer).toBeProblem('validation_failed');
  });

  test('cut off before the commit, leaves neither the effect nor the key', async ({ api }) => {
    const { owner, key } = await anOwner(api);
    await api.rows(`create function cut_off() returns trigger language plpgsql
      as $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`);
    await api.rows(`create trigger cut_off before update on idempotency_key for each row
      when (new.credential_id = '${key.id}') execute function cut_off()`);
    const cut = await post(api, key, '/api/v1/teams', 'k', { name: 'Rockets' });
    await api.rows('drop trigger cut_off on idempotency_key');

    expect(cut).toBeProblem('service_unavailable');
    expect(await countTeams(api, owner)).toBe(1);
    expect(await count(api, 'select count(*) from idempotency_key where credential_id = $1', [key.id])).toBe(0);
    expect((await post(api, key, '/api/v1/teams', 'k', { name: 'Rockets' })).status).toBe(201);
    expect(await countTeams(api, owner)).toBe(2);
  });

  // 100 can wait; the limit is per key, so the credential can still do everything else.
  test('of which too many wait for the first is told to come again, and holds up nothing else', async ({ api }) => {
    const { owner, key } = await anOwner(api);
    const holder = new pg.Client({ connectionString: api.databaseUrl });
    await holder.connect();
    await holder.query('begin');
    await holder.query('lock table idempotency_key in exclusive mode');
    const send = () =>
      fetch(`http://127.0.0.1:${api.port}/api/v1/teams`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key.secret}`,
          'content-type': 'application/json',
          'idempotency-key': 'crowded',
        },
        body: '{"name":"Rockets"}',
      });
    const waiting = Array.from({ length: 110 }, send);
    const refused = await Promise.any(waiting);
    const other = await api.as(key).post('/api/v1/teams', { name: 'Kites' });
    await holder.query('commit');
    await holder.end();
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);

    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(other.status).toBe(201);
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    expect(statuses.filter((status) => status === 503)).toHaveLength(10);
    expect(await countTeams(api, owner)).toBe(3);
  });
});
