import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, onTestFinished, test as base, vi } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { KINDS } from './kinds.ts';
import { ALL_SCOPES, OPERATIONS } from './operations.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const READS = OPERATIONS.filter(({ method }) => method === 'GET');

/** The service, started once, with Redis where there is one. */
const test = base.extend<{ api: Api }>({
  api: [
    // eslint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
    async ({}, use) => {
      const redis = hasRedis ? await startRedis() : null;
      const api = await startApi(redis === null ? {} : { REDIS_URL: redis.url });
      if (redis !== null) await untilConnected(api);
      await use(api);
      await api.close();
      await redis?.stop();
    },
    { scope: 'file' },
  ],
});

/** The SQL that is sent, and the number of calls of Redis, from now on. */
function watch() {
  const queries = vi.spyOn(pg.Client.prototype, 'query').mockClear();
  const commands = vi.spyOn(Redis.prototype, 'sendCommand').mockClear();
  return {
    statements: () =>
      queries.mock.calls.map(([query]: unknown[]) =>
        typeof query === 'string' ? query : (query as { text: string }).text,
      ), // pg takes either
    redisCalls: () => commands.mock.calls.length,
  };
}

/** Without the lines of jobs, which can fall into the same moment. */
const bytesLoggedSince = ({ lines }: Api, start: number): number =>
  lines
    .slice(start)
    .filter((line) => 'requestId' in line)
    .reduce((sum, line) => sum + JSON.stringify(line).length + 1, 0);

/** The first requests of a busy machine can be too early for Redis, to which the process connects on its own. */
async function untilConnected(api: Api): Promise<void> {
  const key = await api.anApiKey(await api.anAccount(), { scopes: ALL_SCOPES });
  const redisCalls = async () => {
    const seen = watch();
    await api.as(key).get('/api/v1/credential');
    return seen.redisCalls();
  };
  await vi.waitFor(async () => expect(await redisCalls()).toBe(1), { timeout: PATIENCE_MS });
}

/** What one more call costs. */
async function costOf(api: Api, credential: { secret: string }, path: string) {
  // The first request of a process makes connections and loads what Redis runs, and the minute of a use is written once.
  await api.as(credential).get(path);
  await api.usage.flush();

  const seen = watch();
  const logged = api.lines.length;
  const { status } = await api.as(credential).get(path);
  const bytesLogged = bytesLoggedSince(api, logged);
  return { status, statements: seen.statements(), redisCalls: seen.redisCalls(), bytesLogged };
}

const isRead = (text: string): boolean => /^\s*(with|select)\b/i.test(text);

// Guarantees the cost that the README promises; a statement more on the request path fails here.
describe.skipIf(!hasRedis)('the cost of a read', () => {
  test.for(READS)(
    '$id: two statements, one call of Redis and a line of log at most, no write, and a token costs what a key does',
    async ({ path }, { api }) => {
      const owner = await api.anAccount();
      const team = await api.aTeam({ owner });
      const target = path.replace('{teamId}', team.id);
      const [ofKey, ofToken] = [
        await costOf(api, await api.anApiKey(owner, { scopes: ALL_SCOPES }), target),
        await costOf(api, await api.aGrant(owner, { scopes: ALL_SCOPES }), target),
      ];

      for (const { status, statements, redisCalls, bytesLogged } of [ofKey, ofToken]) {
        expect(status).toBe(200);
        expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(2);
        expect(statements.filter((text) => !isRead(text))).toEqual([]);
        expect(redisCalls).toBeLessThanOrEqual(1);
        expect(bytesLogged).toBeGreaterThan(0);
        expect(bytesLogged).toBeLessThanOrEqual(300);
      }
      expect(ofToken.statements.length).toBe(ofKey.statements.length);
      expect(ofToken.redisCalls).toBe(ofKey.redisCalls);
    },
  );

  test.for(KINDS)('listing the keys of a team with a $name costs no more', async (kind, { api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const credential = await kind.make(api, owner, { scopes: ['api-keys:read'] });

    const { status, statements } = await costOf(api, credential, `/api/v1/api-keys?teamId=${team.id}`);

    expect(status).toBe(200);
    expect(statements).toHaveLength(2);
  });

  // Guarantees that keeping the time of the last use costs a request nothing; above, that minute is written already.
  test.for(KINDS)('a $name that is used for the first time writes nothing either', async (kind, { api }) => {
    const account = await api.anAccount();
    const unused = await kind.make(api, account, { scopes: ['teams:read'] });
    await costOf(api, await kind.make(api, account, { scopes: ['teams:read'] }), '/api/v1/teams');

    const seen = watch();
    await api.as(unused).get('/api/v1/teams');

    expect(seen.statements().filter((text) => !isRead(text))).toEqual([]);
  });

  // Guarantees that a flood of invented keys costs the database nothing.
  test('a string that is not one of our secrets is rejected without a statement', async ({ api }) => {
    const seen = watch();
    const answer = await api.as('rst_pk_invented').get('/api/v1/teams');

    expect(answer).toBeProblem('credential_invalid');
    expect(seen.statements()).toEqual([]);
  });

  test('a cookie that is not one of our sessions is rejected without a statement', async ({ api }) => {
    const { secret: key } = await api.anApiKey(await api.anAccount());
    const visitor = api.visitor();
    for (const cookie of ['invented', key]) {
      visitor.cookies.set('roster_session_3000', cookie);
      const seen = watch();

      expect(await problemOf(visitor.trpc.listTeams.query())).toMatchObject({ code: 'credential_invalid' });
      expect(seen.statements()).toEqual([]);
    }
  });
});

/** Counts how often PostgreSQL answers the requests' connections, whatever has sent the statements. */
function watchRoundTrips({ services: { db } }: Api) {
  const connections = new Set<unknown>();
  for (const pool of [db.pools.reads, db.pools.writes, db.pools.lists])
    pool.on('acquire', (client) => connections.add((client as pg.PoolClient & { connection: unknown }).connection));
  const emitted = vi.spyOn(pg.Connection.prototype, 'emit');
  return async (change: () => Promise<{ status: number }>) => {
    emitted.mockClear();
    const { status } = await change();
    expect(status).toBeLessThan(300);
    const isAnswer = ([name]: readonly unknown[], index: number) =>
      name === 'readyForQuery' && connections.has(emitted.mock.contexts[index]);
    return emitted.mock.calls.filter(isAnswer).length;
  };
}

// Guarantees how long a change holds its locks: for one round trip more than it waits for them.
describe('the cost of a change', () => {
  test('is what its round trips are, one of which reads the credential', async ({ api }) => {
    const [owner, member] = [await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner });
    await api.aMember(team, member, { role: 'member' });
    const caller = api.as(await api.anApiKey(owner, { scopes: ALL_SCOPES }));
    const of = watchRoundTrips(api);
    const path = `/api/v1/teams/${team.id}`;
    const body = { email: 'new@example.com' };
    const key = (await caller.post('/api/v1/api-keys', { name: 'Old', scopes: ['teams:read'] })).body.key.id;
    const invitation = (await api.anInvitation(team)).id;
    const session = await api.aSession(owner);
    // The first ones of a process open connections and read what it then knows.
    await caller.get(path);

    expect({
      updateTeam: await of(() => caller.patch(path, { name: 'Renamed' })),
      inviteMember: await of(() => caller.post(`${path}/invitations`, body)),
      removeMember: await of(() => caller.delete(`${path}/members/${member.id}`)),
      createApiKey: await of(() => caller.post('/api/v1/api-keys', { name: 'New', scopes: ['teams:read'] })),
      updateApiKey: await of(() => caller.patch(`/api/v1/api-keys/${key}`, { scopes: ['teams:read', 'members:read'] })),
      revokeApiKey: await of(() => caller.delete(`/api/v1/api-keys/${key}`)),
      revokeInvitation: await of(() => caller.delete(`${path}/invitations/${invitation}`)),
      updateMe: await of(() => caller.patch('/api/v1/me', { firstName: 'Ada', lastName: 'Lovelace' })),
      revokeMySession: await of(() => caller.delete(`/api/v1/me/sessions/${session.id}`)),
      createTeam: await of(() => caller.post('/api/v1/teams', { name: 'Rockets' })),
    }).toEqual({
      updateTeam: 2,
      inviteMember: 3,
      removeMember: 3,
      createApiKey: 3,
      updateApiKey: 3,
      revokeApiKey: 3,
      revokeInvitation: 3,
      updateMe: 3,
      revokeMySession: 3,
      createTeam: 3,
    });
  });
});

// Guarantees what the operator's backend pays for each request of its own API.
describe.skipIf(!hasRedis)('a verification by an operator key', () => {
  const VERIFY = '/operator/v1/credentials/verify';

  test.for(KINDS)('of a $name: one statement, a call of Redis for each limit, no write', async (kind, { api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    await api.rows('update team set external_id = $2 where id = $1', [team.id, `of ${team.id}`]);
    const { secret } = await kind.make(api, account, { scopes: ['teams:read'] });
    const operator = api.as(await api.anOperatorKey({ scopes: ['credentials:verify'] }));
    await operator.post(VERIFY, { credential: secret });
    await api.usage.flush();

    for (const [asked, redisCalls] of [
      [{}, 1],
      [{ teamId: team.id, permission: 'access_dashboard' }, 1],
      [{ teamId: `ext:of ${team.id}` }, 1],
      [{ charge: true }, 2],
    ] as const) {
      const seen = watch();
      const logged = api.lines.length;
      const { status, body } = await operator.post(VERIFY, { credential: secret, ...asked });
      const bytesLogged = bytesLoggedSince(api, logged);

      expect([status, body.valid, body.team?.id]).toEqual([200, true, 'teamId' in asked ? team.id : undefined]);
      expect(seen.statements()).toEqual([expect.stringMatching(/^select/)]);
      expect(seen.redisCalls()).toBe(redisCalls);
      expect(bytesLogged).toBeLessThanOrEqual(300);
    }
  });

  test.for(KINDS)(
    'of a $name of a team: one statement; only a grant’s whose request names no team takes two',
    async (kind, { api }) => {
      const account = await api.anAccount();
      const team = await api.aTeam({ owner: account });
      const { secret } = await kind.make(api, account, { scopes: ['teams:read'], team });
      const operator = api.as(await api.anOperatorKey({ scopes: ['credentials:verify'] }));
      await operator.post(VERIFY, { credential: secret });
      await api.usage.flush();

      for (const [asked, statements] of [
        [{ teamId: team.id }, 1],
        [{}, kind.name === 'grant' ? 2 : 1],
      ] as const) {
        const seen = watch();
        const { body } = await operator.post(VERIFY, { credential: secret, ...asked });
        expect([body.valid, body.team?.id, body.role?.id]).toEqual([true, team.id, 'owner']);
        expect(seen.statements()).toHaveLength(statements);
        expect(seen.redisCalls()).toBe(1);
      }
    },
  );

  test.for(KINDS)('of a $name over RFC 7662: the look-up of both, its permissions with it', async (kind, { api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    const operator = api.as(await api.anOperatorKey({ scopes: ['credentials:verify'] }));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const [options, statements] of [
      [{}, 2],
      [{ team }, kind.name === 'grant' ? 3 : 2],
    ] as const) {
      const { secret } = await kind.make(api, account, { scopes: ['teams:read'], ...options });
      const introspect = () =>
        operator.send({ method: 'POST', path: '/oauth/introspect', headers, body: `token=${secret}` });
      await introspect();
      await api.usage.flush();
      const seen = watch();
      const { body } = await introspect();
      expect([body.active, body.team_id, body.permissions?.length]).toEqual(
        'team' in options ? [true, team.id, 6] : [true, undefined, undefined],
      );
      expect(seen.statements()).toHaveLength(statements);
      expect(seen.statements().filter((text) => !isRead(text))).toEqual([]);
    }
  });

  test('with an unknown operator key finds out nothing, in one statement', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount());
    const unknown = { secret: api.services.tokens.generate('operatorKey').secret };
    const seen = watch();
    expect(await api.as(unknown).post(VERIFY, { credential: secret })).toBeProblem('credential_invalid');
    expect(seen.statements()).toHaveLength(1);
  });
});

/** A grant whose token a refresh made just now, as the token endpoint notes it. */
async function aRefreshedGrant(api: Api, { gty = 'authorization_code refresh_token', ageSeconds = 0 } = {}) {
  const grant = await api.aGrant(await api.anAccount());
  await api.rows(
    'update oauth_token set payload = $2, created_at = created_at - make_interval(secs => $3) where grant_id = $1',
    [grant.id, JSON.stringify({ gty }), ageSeconds],
  );
  return grant;
}

const firstUseOf = async (api: Api, grant: { id: string }) => {
  const [token] = await api.rows<{ used_at: string | null }>('select used_at from oauth_token where grant_id = $1', [
    grant.id,
  ]);
  return token?.used_at ?? null;
};

// Guarantees that a client that has its answer cannot ask for it again, at the price of one write for each refresh.
describe('the first use of a token that was just refreshed', () => {
  const isTokenWrite = (text: string) => !isRead(text) && text.includes('oauth_token');

  test('is written once, and no later use is', async ({ api }) => {
    const grant = await aRefreshedGrant(api);
    const seen = watch();

    await api.as(grant).get('/api/v1/credential');
    await api.usage.flush();
    const firstUse = await firstUseOf(api, grant);
    for (let i = 0; i < 3; i += 1) await api.as(grant).get('/api/v1/credential');
    await api.usage.flush();

    expect(firstUse).not.toBeNull();
    expect(await firstUseOf(api, grant)).toEqual(firstUse);
    expect(seen.statements().filter(isTokenWrite)).toHaveLength(1);
  });

  test('is answered before it is written', async ({ api }) => {
    const grant = await aRefreshedGrant(api);
    const other = new pg.Client(api.databaseUrl);
    await other.connect();
    onTestFinished(() => other.end());
    await other.query('begin');
    await other.query('select from oauth_token where grant_id = $1 for update', [grant.id]);

    const { status } = await api.as(grant).get('/api/v1/credential');
    const meanwhile = await firstUseOf(api, grant);
    await other.query('rollback');
    await api.usage.flush();

    expect([status, meanwhile]).toEqual([200, null]);
    expect(await firstUseOf(api, grant)).not.toBeNull();
  });

  test.for([
    ['made from a code', { gty: 'authorization_code' }],
    ['older than a refresh can be repeated', { ageSeconds: 601 }],
  ] as const)('is not written for a token %s', async ([, token], { api }) => {
    const grant = await aRefreshedGrant(api, token);
    const seen = watch();

    await api.as(grant).get('/api/v1/credential');
    await api.usage.flush();

    expect(seen.statements().filter(isTokenWrite)).toEqual([]);
    expect(await firstUseOf(api, grant)).toBeNull();
  });
});
