import { describe, expect, onTestFinished, vi } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { startApi, test, type Api } from '../support/api.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { aTenant, countLockWaits, holdLock, QUEUE, send } from './tenants.ts';

const eventually = (expectation: () => unknown) => vi.waitFor(expectation, { timeout: PATIENCE_MS });

const holdTeam = (api: Api, { id }: { id: string }) => holdLock(api, 'select from team where id = $1 for update', [id]);

/** Lets changes wait for a lock for 50 ms at a time, on connections that are open already, too. */
async function shortenLockWaits({ services: { db } }: Api): Promise<void> {
  Object.assign(db.pools.writes.options, { lock_timeout: 50 });
  const clients = await Promise.all(
    Array.from({ length: db.pools.writes.totalCount }, () => db.pools.writes.connect()),
  );
  for (const client of clients) {
    await client.query('set lock_timeout = 50');
    client.release();
  }
}

describe('a team whose lock is held', () => {
  test('delays no other tenant: with as many requests waiting as can wait, reads and writes are answered', async ({
    api,
  }) => {
    const [busy, other] = [await aTenant(api), await aTenant(api)];
    const lock = await holdTeam(api, busy.team);
    const waiting = Array.from({ length: QUEUE }, (_, i) =>
      send(api, busy.key, 'PATCH', busy.path, { name: `Name ${i}` }),
    );
    await eventually(() => expect(api.services.db.writeQueue.length).toBe(QUEUE));

    // Guarantees that they wait without connections: two of them are all that PostgreSQL knows of.
    expect((await api.as(other.key).get('/api/v1/teams')).status).toBe(200);
    expect((await api.as(other.key).get(`${other.path}/members`)).status).toBe(200);
    expect((await api.as(other.key).patch(other.path, { name: 'Renamed' })).status).toBe(200);
    expect((await api.as(other.key).post(`${other.path}/invitations`, { email: 'new@example.com' })).status).toBe(201);
    expect((await api.as(busy.key).get('/api/v1/teams')).status).toBe(200);
    expect(await countLockWaits(api)).toBe(2);

    // And that one more is refused at once instead of waiting.
    const refused = await api.as(busy.key).patch(busy.path, { name: 'One too many' });
    expect(refused).toBeProblem('service_unavailable');
    expect(refused.headers['retry-after']).toBe('1');

    await lock.release();
    expect(await Promise.all(waiting.map(({ status }) => status))).toEqual(waiting.map(() => 200));
  });

  test('is not changed by a request whose client hung up while it waited for its turn', async ({ api }) => {
    const { team, key, path } = await aTenant(api);
    const lock = await holdTeam(api, team);
    const first = [api.as(key).patch(path, { name: 'First' }), api.as(key).patch(path, { name: 'Second' })];
    await eventually(async () => expect(await countLockWaits(api)).toBe(2));

    const given = send(api, key, 'PATCH', path, { name: 'Given up' });
    const last = api.as(key).patch(path, { name: 'Last' });
    await eventually(() => expect(api.services.db.writeQueue.length).toBe(4));
    given.hangUp();
    await eventually(() => expect(api.lines.filter(({ status }) => status === 408)).toHaveLength(1));
    await lock.release();
    await Promise.all([...first, last]);

    const events = await api.rows<{ event: string }>(
      `select event from audit_event where team_id = $1 and event = 'team.renamed'`,
      [team.id],
    );
    expect(events).toHaveLength(3);
    expect((await api.as(key).get(path)).body.name).not.toBe('Given up');
  });
});

test('two teams whose locks are held leave half of the places to others, and what waits for them is done or refused', async () => {
  const api = await startApi();
  await shortenLockWaits(api);
  onTestFinished(() => api.close());
  const [one, two, other] = [await aTenant(api), await aTenant(api), await aTenant(api)];
  const locks = [await holdTeam(api, one.team), await holdTeam(api, two.team)];
  const waiting = [one, two].flatMap(({ key, path }) =>
    Array.from({ length: 12 }, (_, i) => send(api, key, 'PATCH', path, { name: `Name ${i}` }).status),
  );
  // On a slow machine the first ones are refused before the last ones arrive.
  let refused = 0;
  for (const status of waiting) void status.then(() => (refused += 1));
  await eventually(() => expect(api.services.db.writeQueue.length + refused).toBe(waiting.length));

  // Two of four. All that waits has to be tried once before it is known that the locks are held.
  const half = 2;
  await eventually(async () => {
    for (let i = 0; i < 10; i += 1) expect(await countLockWaits(api)).toBeLessThanOrEqual(half);
  });
  expect((await api.as(other.key).patch(other.path, { name: 'Renamed' })).status).toBe(200);

  await Promise.all(locks.map(({ release }) => release()));
  const statuses = await Promise.all(waiting);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  const [renamed] = await api.rows<{ count: number }>(
    `select count(*)::int from audit_event where event = 'team.renamed' and team_id = any($1)`,
    [[one.team.id, two.team.id]],
  );
  expect(renamed?.count).toBe(statuses.filter((status) => status === 200).length);
});

test('a lock that is not free in time is a 503 to the caller who waits for it', async () => {
  const api = await startApi();
  await shortenLockWaits(api);
  onTestFinished(() => api.close());
  const { team, key, path } = await aTenant(api);
  const lock = await holdTeam(api, team);

  const answer = await api.as(key).patch(path, { name: 'Too late' });
  await lock.release();

  expect(answer).toBeProblem('service_unavailable');
  expect(answer.headers['retry-after']).toBe('1');
  expect((await api.as(key).patch(path, { name: 'In time' })).status).toBe(200);
});

test.for([
  ['a team', 'a member', (id: string) => `/operator/v1/teams/${id}/members`, 'team'],
  ['an account', 'a key', () => '/operator/v1/api-keys', 'account'],
] as const)(
  'what an operator key wants of %s that is held, such as %s, leaves its other changes their turn',
  async ([, , pathOf, table]) => {
    const api = await startApi();
    await shortenLockWaits(api);
    onTestFinished(() => api.close());
    const { team, owner } = await aTenant(api);
    await api.aSubscription(team, { seats: 200 });
    const key = await api.anOperatorKey();
    const people = await Promise.all(Array.from({ length: 20 }, () => api.anAccount()));
    const held = table === 'team' ? team : owner;
    const lock = await holdLock(api, `select from ${table} where id = $1 for update`, [held.id]);

    const order: string[] = [];
    const waiting = people.map(({ id }) =>
      api
        .as(key)
        .post(
          pathOf(held.id),
          table === 'team'
            ? { accountId: id, roleId: 'member' }
            : { accountId: held.id, name: 'Key', scopes: ['teams:read'] },
        )
        .then(({ status }) => order.push(`held ${status}`)),
    );
    // So many have been tried, after which it is known that the lock is held.
    await eventually(async () => expect(await countLockWaits(api)).toBe(1));
    await eventually(() => expect(api.services.db.writeQueue.length + order.length).toBe(waiting.length));
    for (let n = 0; n < 4; n += 1) {
      const { status } = await api.as(key).post('/operator/v1/accounts', { email: `new-${n}@example.com` });
      order.push(`free ${status}`);
    }
    await lock.release();
    await Promise.all(waiting);

    expect(order.slice(0, 4)).toEqual(['free 201', 'free 201', 'free 201', 'free 201']);
  },
);

test('many invitations at once by one key are all made, and others are answered meanwhile', async ({ api }) => {
  const [busy, other] = [await aTenant(api), await aTenant(api)];
  await api.aSubscription(busy.team, { seats: 200 });

  const made = Array.from({ length: 50 }, (_, i) =>
    api.as(busy.key).post(`${busy.path}/invitations`, { email: `person-${i}@example.com` }),
  );
  const order: string[] = [];
  void Promise.all(made).then(() => order.push('invitations'));
  expect((await api.as(other.key).patch(other.path, { name: 'Renamed' })).status).toBe(200);
  order.push('rename');
  const answers = await Promise.all(made);

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(order[0]).toBe('rename');
});

describe('a list', () => {
  const QUIET = 'lock table invitation in access exclusive mode';
  const pathOf = ({ path }: { path: string }) => `${path}/invitations`;

  test('that PostgreSQL is at work on ends when its client hangs up, and so does one that waits for its turn', async ({
    api,
  }) => {
    const [one, other] = [await aTenant(api), await aTenant(api)];
    const lock = await holdLock(api, QUIET);
    const lists = Array.from({ length: 5 }, () => send(api, one.key, 'GET', pathOf(one)));
    await eventually(async () => expect(await countLockWaits(api)).toBe(1));
    await eventually(() => expect(api.services.db.listQueue.length).toBe(5));

    for (const { hangUp } of lists) hangUp();

    await eventually(async () => expect(await countLockWaits(api)).toBe(0));
    expect(api.services.db.listQueue.length).toBe(0);
    const next = send(api, other.key, 'GET', pathOf(other));
    await eventually(async () => expect(await countLockWaits(api)).toBe(1));
    await lock.release();
    expect(await next.status).toBe(200);
  });

  test('of one credential waits for no more than one of another, however many that one asks for', async ({ api }) => {
    const [busy, ...others] = [await aTenant(api), await aTenant(api), await aTenant(api), await aTenant(api)];
    const order: string[] = [];
    const lock = await holdLock(api, QUIET);
    const ask = (tenant: typeof busy, name: string) =>
      send(api, tenant.key, 'GET', pathOf(tenant)).status.then((status) => order.push(`${name} ${status}`));

    const many = Array.from({ length: QUEUE }, () => ask(busy, 'busy'));
    await eventually(() => expect(api.services.db.listQueue.length).toBe(QUEUE));
    const few = others.map((tenant) => ask(tenant, 'other'));
    await eventually(() => expect(api.services.db.listQueue.length).toBe(QUEUE + others.length));
    // Guarantees that what is not at work holds no connection, and that one more is refused at once.
    await eventually(async () => expect(await countLockWaits(api)).toBe(2));
    const refused = await api.as(busy.key).get(pathOf(busy));
    expect(refused).toBeProblem('service_unavailable');
    expect(refused.headers['retry-after']).toBe('1');

    await lock.release();
    await Promise.all([...few, ...many]);

    expect(order.filter((name) => name === 'busy 200')).toHaveLength(QUEUE);
    const places = order.flatMap((name, index) => (name === 'other 200' ? [index] : []));
    expect(places).toHaveLength(others.length);
    // Each of them has its turn beside or after one of the other's; the rest is for a busy machine, which can leave one
    // of the two connections without a core meanwhile.
    expect(places[1]).toBeLessThan(QUEUE / 4);
  });

  test('of one account waits for no more than one of another, however many keys that one has', async ({ api }) => {
    const [busy, other] = [await aTenant(api), await aTenant(api)];
    const keys = await Promise.all(Array.from({ length: 20 }, () => api.anApiKey(busy.owner, { scopes: SCOPES })));
    const lock = await holdLock(api, QUIET);

    const many = keys.flatMap((key) => [0, 1].map(() => send(api, key, 'GET', pathOf(busy)).status));
    await eventually(() => expect(api.services.db.listQueue.length).toBe(many.length));
    await eventually(async () => expect(await countLockWaits(api)).toBe(1));
    // One of the two connections is left to all other accounts.
    const few = send(api, other.key, 'GET', pathOf(other)).status;
    await eventually(async () => expect(await countLockWaits(api)).toBe(2));

    await lock.release();
    expect(await few).toBe(200);
    expect(await Promise.all(many)).toEqual(many.map(() => 200));
  });
});
