import { describe, expect } from 'vitest';
import { OPERATOR_SCOPES } from '../../src/entities/index.ts';
import { startApi, test, testWith } from '../support/api.ts';

const KEYS = '/operator/v1/operator-keys';
const tick = () => new Date(Date.now() - 1000);

describe('operator keys over the API', () => {
  test('a created key is listed without its secret, works, and is recorded as the deed of its creator', async ({
    api,
  }) => {
    const creator = await api.anOperatorKey();
    const created = await api
      .as(creator)
      .post(KEYS, { name: 'Events', scopes: ['events:read', 'keys:write', 'events:read'], expiresInDays: 30 });
    expect(created.status).toBe(201);
    const { key, secret } = created.body;
    expect(key).toMatchObject({
      name: 'Events',
      scopes: ['events:read', 'keys:write'],
      addresses: [],
      lastUsedAt: null,
    });
    expect(secret).toMatch(/^rst_ok_[0-9A-Za-z]{49}$/);
    expect(secret.startsWith(key.keyPrefix) && secret.endsWith(key.last4)).toBe(true);

    const listed = await api.as(secret).get(KEYS);
    expect(listed.body.keys).toContainEqual(key);
    expect(listed.text).not.toContain(secret);
    expect(
      await api.rows(
        `select event, actor_kind, actor_id, credential_id, details->'operatorScopes' as scopes
         from audit_event where target_id = $1`,
        [key.id],
      ),
    ).toEqual([
      {
        event: 'operator_key.created',
        actor_kind: 'operator_key',
        actor_id: null,
        credential_id: creator.id,
        scopes: key.scopes,
      },
    ]);
  });

  test('a key cannot create or rotate one with more scopes than its own', async ({ api }) => {
    const small = await api.anOperatorKey({ scopes: ['keys:write', 'events:read'] });
    const large = await api.anOperatorKey();
    const caller = api.as(small);

    for (const scope of OPERATOR_SCOPES) {
      const answer = await caller.post(KEYS, { name: 'x', scopes: [scope] });
      const isOwn = scope === 'keys:write' || scope === 'events:read';
      expect([scope, answer.status, answer.body.code]).toEqual([
        scope,
        isOwn ? 201 : 403,
        isOwn ? undefined : 'scope_not_allowed',
      ]);
    }
    expect((await caller.post(`${KEYS}/${large.id}/rotate`)).body.code).toBe('scope_not_allowed');
    expect((await caller.post(`${KEYS}/${small.id}/rotate`)).status).toBe(200);
  });

  test('a key that expires creates and rotates none that outlives it', async ({ api }) => {
    const at = new Date(Date.now() + 3_600_000);
    const short = await api.anOperatorKey({ expiresAt: at });
    const lasting = await api.anOperatorKey();
    const caller = api.as(short);

    for (const expiresInDays of [undefined, 1]) {
      const { status, body } = await caller.post(KEYS, { name: 'Late', scopes: ['keys:write'], expiresInDays });
      expect([status, body.key.expiresAt]).toEqual([201, at.toISOString()]);
    }
    expect(await caller.post(`${KEYS}/${lasting.id}/rotate`)).toBeProblem('scope_not_allowed');
    expect((await caller.post(`${KEYS}/${short.id}/rotate`)).body.key.expiresAt).toBe(at.toISOString());
    expect((await api.as(lasting).post(`${KEYS}/${short.id}/rotate`)).status).toBe(200);
  });

  test('a rotated key has two secrets until the overlap is over', async ({ api }) => {
    const caller = await api.anOperatorKey();
    const key = await api.anOperatorKey();
    const works = async (secret: string) => (await api.as(secret).get(KEYS)).status === 200;
    const rotate = async (overlapHours?: number) =>
      (await api.as(caller).post(`${KEYS}/${key.id}/rotate`, { overlapHours })).body.secret as string;

    const second = await rotate();
    expect([await works(key.secret), await works(second)]).toEqual([true, true]);
    const third = await rotate(168);
    expect([await works(key.secret), await works(second), await works(third)]).toEqual([false, true, true]);
    await api.rows(
      `update operator_key_secret set expires_at = $2 where operator_key_id = $1 and expires_at is not null`,
      [key.id, tick()],
    );
    expect([await works(second), await works(third)]).toEqual([false, true]);
    const fourth = await rotate(0);
    expect([await works(third), await works(fourth)]).toEqual([false, true]);
    expect((await api.as(caller).post(`${KEYS}/${key.id}/rotate`, { overlapHours: 169 })).body.errors).toEqual([
      { in: 'body', pointer: '/overlapHours', code: 'max_value', params: { max: 168 } },
    ]);
  });

  test('a revoked key is rejected by the next request, and cannot be revoked or rotated again', async ({ api }) => {
    const caller = await api.anOperatorKey();
    const key = await api.anOperatorKey();
    expect((await api.as(caller).delete(`${KEYS}/${key.id}`)).status).toBe(200);
    expect((await api.as(key).get(KEYS)).status).toBe(401);
    expect((await api.as(caller).delete(`${KEYS}/${key.id}`)).body.code).toBe('operator_key_not_found');
    expect((await api.as(caller).post(`${KEYS}/${key.id}/rotate`)).body.code).toBe('operator_key_not_found');
    expect((await api.as(caller).delete(`${KEYS}/${caller.id}`)).status).toBe(200);
    expect((await api.as(caller).get(KEYS)).status).toBe(401);
  });

  test('addresses are networks, written one way, and what is no network is named', async ({ api }) => {
    const caller = api.as(await api.anOperatorKey());
    const create = (addresses: readonly unknown[]) =>
      caller.post(KEYS, { name: 'x', scopes: ['events:read'], addresses });
    expect((await create(['192.0.2.7', '10.0.0.0/8', '2001:DB8::/32', '192.0.2.7'])).body.key.addresses).toEqual([
      '192.0.2.7/32',
      '10.0.0.0/8',
      '2001:db8::/32',
    ]);
    for (const bad of [
      '10.0.0.0/33',
      '10.0.0',
      '127.1',
      'localhost',
      '1.2.3.4/8/8',
      '::/129',
      'fe80::1%eth0',
      '1.2.3.4/',
    ]) {
      const answer = await create(['192.0.2.7', bad]);
      expect([bad, answer.status, answer.body.errors]).toEqual([
        bad,
        400,
        [{ in: 'body', pointer: '/addresses/1', code: 'invalid_format' }],
      ]);
    }
  });

  test('the use of a key is noted to the minute, and its limit is its own', async ({ api }) => {
    const key = await api.anOperatorKey();
    await api.rows(`update operator_key set created_at = now() - interval '1 hour' where id = $1`, [key.id]);
    const answer = await api.as(key).get(KEYS);
    expect(answer.headers['ratelimit-policy']).toBe('"default";q=6000;w=60');
    await api.usage.flush();
    const [row] = await api.rows<{ seconds: string }>(
      'select extract(second from last_used_at) as seconds from operator_key where id = $1',
      [key.id],
    );
    expect(Number(row?.seconds)).toBe(0);
  });
});

const limited = testWith(() => startApi({ OPERATOR_RATE_LIMIT: '3', RATE_LIMIT: '5', TRUST_PROXY: '1' }));

limited('requests without a valid key count against their address, not against a key', async ({ api }) => {
  const key = await api.anOperatorKey({ addresses: ['192.0.2.0/24'] });
  const call = async (secret: string, address: string) =>
    (await api.as(secret).send({ method: 'GET', path: KEYS, headers: { 'x-forwarded-for': address } })).status;
  const many = async (count: number, secret: string, address: string) => {
    const statuses: number[] = [];
    for (let i = 0; i < count; i++) statuses.push(await call(secret, address));
    return statuses;
  };

  expect(await many(6, key.secret, '198.51.100.1')).toEqual([403, 403, 403, 403, 403, 429]);
  expect(await many(6, 'x', '198.51.100.2')).toEqual([401, 401, 401, 401, 401, 429]);
  expect(await many(4, key.secret, '192.0.2.1')).toEqual([200, 200, 200, 429]);
});

const walled = testWith(() => startApi({ TRUST_PROXY: '1' }));

walled('a key with an allow-list hands on at most its own addresses', async ({ api }) => {
  const key = await api.anOperatorKey({ addresses: ['192.0.2.0/24'] });
  const create = (addresses?: readonly string[]) =>
    api.as(key).send({
      method: 'POST',
      path: KEYS,
      headers: { 'x-forwarded-for': '192.0.2.1', 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x', scopes: ['events:read'], addresses }),
    });
  expect((await create()).body.key.addresses).toEqual(['192.0.2.0/24']);
  expect((await create(['192.0.2.128/25'])).body.key.addresses).toEqual(['192.0.2.128/25']);
  for (const wider of [['192.0.0.0/16'], ['192.0.2.1', '198.51.100.1'], ['::/0'], []])
    expect([wider, (await create(wider)).body.code]).toEqual([wider, 'address_not_allowed']);
});
