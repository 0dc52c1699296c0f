import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, test as base } from 'vitest';
import { isAccountOnly } from '../../src/auth/scopes.ts';
import { SCOPES, type Scope } from '../../src/entities/index.ts';
import { startApi, type Api } from '../support/api.ts';
import type { Answer, Caller } from '../support/client.ts';
import { createTestDatabase } from '../support/database.ts';
import type { AKey } from '../support/factories.ts';
import { anyOf as choose, randomOf } from '../support/random.ts';

type Replicas = Awaited<ReturnType<typeof startReplicas>>;

/** Two instances on one database. */
async function startReplicas(settings: Record<string, string>) {
  const database = await createTestDatabase();
  const shared = { databaseUrl: database.url };
  const one = await startApi(settings, shared);
  const other = await startApi(settings, shared);

  return {
    ...one,
    both: [one, other] as const,
    /** A caller on one replica or the other, by turns. */
    at: (turn: number, key: AKey): Caller => (turn % 2 === 0 ? one : other).as(key),
    /** Closes both, so that the server has counted everything, and looks at what they have left. */
    async close(inspect: (rows: <Row>(sql: string) => Promise<Row[]>) => Promise<void> = async () => {}) {
      await Promise.all([one.close(), other.close()]);
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        await inspect(async <Row>(sql: string) => (await client.query(sql)).rows as Row[]); // each test knows its columns
      } finally {
        await client.end();
        await database.drop();
      }
    },
  };
}

const test = base.extend<{ api: Replicas }>({
  api: [
    // eslint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
    async ({}, use) => {
      const api = await startReplicas({ KEY_LIMIT: '8' });
      await use(api);
      await api.close(expectNoDeadlock);
      expect(faultsOf(api.both)).toEqual([]);
    },
    { scope: 'file' },
  ],
});

const faultsOf = (apis: readonly Api[]) =>
  apis.flatMap(({ lines }) => lines.filter(({ level }) => Number(level) >= 50));

async function expectNoDeadlock(rows: <Row>(sql: string) => Promise<Row[]>): Promise<void> {
  const [row] = await rows<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  expect(Number(row?.deadlocks)).toBe(0);
}

const inParallel = <Result>(count: number, work: (turn: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, turn) => work(turn)));

/** How often each status and code came, for comparisons at a glance. */
function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const outcome = status < 400 ? String(status) : `${status} ${body.code}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

type Timed = { readonly startedAt: number; readonly answer: Answer };

/**
 * Repeats a call on several lanes while something else happens to it, and then until `count` more calls were begun.
 * @returns the answers to calls begun before the change was asked for, and to those begun after it was acknowledged.
 */
async function aroundChange(call: (turn: number) => Promise<Answer>, change: () => Promise<Answer>, count = 60) {
  const timed: Timed[] = [];
  let acknowledgedAt = Infinity;
  let begunAfter = 0;
  const lane = async (turn: number): Promise<void> => {
    for (; begunAfter < count; turn += 1) {
      const startedAt = performance.now();
      if (startedAt > acknowledgedAt) begunAfter += 1;
      timed.push({ startedAt, answer: await call(turn) });
    }
  };
  const lanes = inParallel(8, lane);
  while (timed.length < 40) await sleep(1);
  const askedAt = performance.now();
  const acknowledgement = await change();
  acknowledgedAt = performance.now();
  await lanes;

  const answers = (filter: (call: Timed) => boolean) => timed.filter(filter).map(({ answer }) => answer);
  return {
    acknowledgement,
    before: answers(({ startedAt, answer }) => startedAt < askedAt && answer.status < 300),
    after: answers(({ startedAt }) => startedAt > acknowledgedAt),
    all: answers(() => true),
  };
}

describe('counted resources', () => {
  test('of 20 parallel invitations exactly the free seats are taken', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    await api.anInvitation(team);
    const key = await api.anApiKey(owner, { scopes: ['invites:write'] });

    const answers = await inParallel(20, (turn) =>
      api.at(turn, key).post(`/api/v1/teams/${team.id}/invitations`, { email: `guest-${turn}@example.com` }),
    );

    expect(tally(answers)).toEqual({ 201: 3, '403 seat_limit_reached': 17 });
    expect(await api.rows('select 1 from invitation where team_id = $1', [team.id])).toHaveLength(4);
  });

  test('of 20 parallel invitations of one address in different spellings all get the same seat', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    for (let i = 0; i < 3; i += 1) await api.anInvitation(team);
    const key = await api.anApiKey(owner, { scopes: ['invites:write', 'members:read'] });
    const spelled = (turn: number) =>
      'ada.lovelace@example.com'.replace(/[a-z]/g, (letter, i: number) =>
        (turn >> (i % 5)) & 1 ? letter.toUpperCase() : letter,
      );

    const answers = await inParallel(20, (turn) =>
      api.at(turn, key).post(`/api/v1/teams/${team.id}/invitations`, { email: spelled(turn) }),
    );

    expect(new Set(Array.from({ length: 20 }, (_, turn) => spelled(turn))).size).toBe(20);
    expect(tally(answers)).toEqual({ 201: 20 });
    const pending: { email: string }[] = (await api.as(key).get(`/api/v1/teams/${team.id}/invitations`)).body;
    expect(pending.filter(({ email }) => email.toLowerCase() === 'ada.lovelace@example.com')).toHaveLength(1);
    expect(pending).toHaveLength(4);
  });

  test('of 20 parallel createTeam exactly one gets the last team of the limit', async ({ api }) => {
    const owner = await api.anAccount();
    for (let i = 0; i < 9; i += 1) await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['teams:write', 'teams:read'] });

    const answers = await inParallel(20, (turn) => api.at(turn, key).post('/api/v1/teams', { name: `Team ${turn}` }));

    expect(tally(answers)).toEqual({ 201: 1, '403 team_limit_reached': 19 });
    expect((await api.as(key).get('/api/v1/teams')).body).toHaveLength(10);
  });

  test.for([
    { what: 'personal', of: 'account' },
    { what: 'team', of: 'team' },
  ])('of 20 parallel createApiKey exactly the last $what keys of the limit are made', async ({ of }, { api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['api-keys:write', 'teams:read'] });
    if (of === 'team') await api.anApiKey(owner, { team });
    const input = { name: 'Racer', scopes: ['teams:read'], ...(of === 'team' ? { teamId: team.id } : {}) };

    const answers = await inParallel(20, (turn) => api.at(turn, key).post('/api/v1/api-keys', input));

    expect(tally(answers)).toEqual({ 201: 7, '403 key_limit_reached': 13 });
    const column = of === 'team' ? `team_id = '${team.id}'` : `account_id = '${owner.id}' and team_id is null`;
    expect(await api.rows(`select 1 from api_key where ${column} and revoked_at is null`)).toHaveLength(8);
  });
});

describe('slugs', () => {
  test('20 parallel teams of one name all get a slug of their own', async ({ api }) => {
    const keys = await inParallel(20, async () => api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] }));

    const answers = await Promise.all(
      keys.map((key, turn) => api.at(turn, key).post('/api/v1/teams', { name: 'Night Owls' })),
    );

    expect(tally(answers)).toEqual({ 201: 20 });
    const slugs = answers.map(({ body }) => body.slug as string);
    expect(slugs.toSorted()).toEqual(
      ['night-owls', ...Array.from({ length: 19 }, (_, i) => `night-owls-${i + 2}`)].toSorted(),
    );
  });

  // Guarantees that names which end in numbers, and long names that are cut, wait for each other too.
  test.for([
    ['a number', 'Core 2', 'Core 2 2'],
    ['a cut', `${'x'.repeat(35)} 1111111111111111111111111`, `${'x'.repeat(35)} 11111111111111111111112 2`],
  ])(
    'two names that want one slug, because of %s at the end, both get one',
    async ([, first = '', second = ''], { api }) => {
      const create = async (turn: number, name: string) =>
        api
          .at(turn, await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] }))
          .post('/api/v1/teams', { name });

      const answers = await inParallel(20, async (turn) => {
        const begin = `${turn} `;
        const taken = await create(turn, begin + first);
        return [taken, ...(await Promise.all([create(turn, begin + first), create(turn + 1, begin + second)]))];
      });

      expect(tally(answers.flat())).toEqual({ 201: 60 });
      expect(new Set(answers.flat().map(({ body }) => body.slug as string)).size).toBe(60);
    },
  );
});

describe('revoking', () => {
  test.for(['another key', 'the key itself'])(
    'no request that starts after the 200 gets in, revoked by %s',
    async (by, { api }) => {
      const account = await api.anAccount();
      const key = await api.anApiKey(account, { scopes: ['teams:read', 'api-keys:write'] });
      const manager = by === 'the key itself' ? key : await api.anApiKey(account, { scopes: ['api-keys:write'] });

      const { acknowledgement, before, after, all } = await aroundChange(
        (turn) => api.at(turn, key).get('/api/v1/teams'),
        () => api.as(manager).delete(`/api/v1/api-keys/${key.id}`),
      );

      expect(acknowledgement.status).toBe(200);
      expect(before.length).toBeGreaterThan(0);
      expect(tally(after)).toEqual({ '401 credential_invalid': after.length });
      expect(Object.keys(tally(all)).toSorted()).toEqual(['200', '401 credential_invalid']);
    },
  );

  test('of 20 parallel revocations of one key exactly one answers 200', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account);
    const manager = await api.anApiKey(account, { scopes: ['api-keys:write'] });

    const answers = await inParallel(20, (turn) => api.at(turn, manager).delete(`/api/v1/api-keys/${key.id}`));

    expect(tally(answers)).toEqual({ 200: 1, '404 api_key_not_found': 19 });
  });

  test('of 20 parallel revocations of one invitation exactly one answers 200', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const { id } = await api.anInvitation(team);
    const key = await api.anApiKey(owner, { scopes: ['invites:write'] });

    const answers = await inParallel(20, (turn) =>
      api.at(turn, key).delete(`/api/v1/teams/${team.id}/invitations/${id}`),
    );

    expect(tally(answers)).toEqual({ 200: 1, '404 invitation_not_found': 19 });
  });

  test('an invitation that is revoked while it is renewed is created again', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const { id, email } = await api.anInvitation(team);
    const key = await api.anApiKey(owner, { scopes: ['invites:write'] });

    const renewal = await whileLocked(api, [`delete from invitation where id = '${id}'`], async (untilWaiting) => {
      const answer = api.as(key).post(`/api/v1/teams/${team.id}/invitations`, { email });
      await untilWaiting();
      return { answer };
    });

    expect((await renewal.answer).status).toBe(201);
    const left = await api.rows<{ id: string; links: number }>(
      'select id, (select count(*) from invitation_link where invitation_id = i.id)::int as links from invitation i where team_id = $1',
      [team.id],
    );
    expect(left).toEqual([{ id: expect.not.stringMatching(id), links: 1 }]);
  });
});

test('a key that is revoked while it creates another creates none', async ({ api }) => {
  const account = await api.anAccount();
  const key = await api.anApiKey(account, { scopes: ['api-keys:write', 'teams:read'] });

  const revoke = `update api_key set revoked_at = now() where id = '${key.id}'`;
  const creation = await whileLocked(api, [revoke], async (untilWaiting) => {
    const answer = api.as(key).post('/api/v1/api-keys', { name: 'x', scopes: ['teams:read'] });
    await untilWaiting();
    return { answer };
  });

  expect(await creation.answer).toBeProblem('credential_invalid');
  expect(await api.rows('select 1 from api_key where account_id = $1', [account.id])).toHaveLength(1);
});

describe('re-scoping', () => {
  test('no request that starts after the 200 uses a scope that was taken away', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['teams:read', 'profile:read', 'api-keys:write'] });
    const manager = await api.anApiKey(account, { scopes: ['profile:read', 'api-keys:write'] });

    const { acknowledgement, before, after, all } = await aroundChange(
      (turn) => api.at(turn, key).get('/api/v1/teams'),
      () => api.as(manager).patch(`/api/v1/api-keys/${key.id}`, { scopes: ['profile:read'] }),
    );

    expect(acknowledgement.status).toBe(200);
    expect(before.length).toBeGreaterThan(0);
    expect(tally(after)).toEqual({ '403 scope_missing': after.length });
    expect(Object.keys(tally(all)).toSorted()).toEqual(['200', '403 scope_missing']);
    expect((await api.as(key).get('/api/v1/credential')).body.scopes).toEqual(['profile:read']);
  });

  // Guarantees that a key whose scopes are reduced cannot hand on, or restore, the removed ones.
  test('no key regains scopes by giving them to itself while they are reduced', async ({ api }) => {
    const account = await api.anAccount();
    const wide: readonly Scope[] = ['teams:read', 'api-keys:write'];
    const key = await api.anApiKey(account, { scopes: wide });
    const manager = await api.anApiKey(account, { scopes: ['api-keys:write'] });

    const { acknowledgement, after } = await aroundChange(
      (turn) => api.at(turn, key).patch(`/api/v1/api-keys/${key.id}`, { scopes: wide }),
      () => api.as(manager).patch(`/api/v1/api-keys/${key.id}`, { scopes: ['api-keys:write'] }),
    );

    expect(acknowledgement.status).toBe(200);
    expect(tally(after)).toEqual({ '403 scope_not_allowed': after.length });
    expect((await api.as(key).get('/api/v1/credential')).body.scopes).toEqual(['api-keys:write']);
  });

  // Guarantees that one re-scoping is decided by what the other has left: done side by side they would swap their scopes.
  test('of two keys that re-scope each other exactly one succeeds, without a deadlock', async ({ api }) => {
    const rounds = await inParallel(30, async (turn) => {
      const account = await api.anAccount();
      const one = await api.anApiKey(account, { scopes: ['teams:read', 'api-keys:write'] });
      const two = await api.anApiKey(account, { scopes: ['profile:read', 'api-keys:write'] });
      const answers = await Promise.all([
        api.at(turn, one).patch(`/api/v1/api-keys/${two.id}`, { scopes: ['teams:read', 'api-keys:write'] }),
        api.at(turn + 1, two).patch(`/api/v1/api-keys/${one.id}`, { scopes: ['profile:read', 'api-keys:write'] }),
      ]);
      const credentials = await Promise.all([one, two].map((key) => api.as(key).get('/api/v1/credential')));
      return { answers, scopes: credentials.map(({ body }) => body.scopes as Scope[]) };
    });

    for (const { answers, scopes } of rounds) {
      expect(tally(answers)).toEqual({ 200: 1, '403 scope_not_allowed': 1 });
      expect(scopes[0]).toEqual(scopes[1]);
    }
  });
});

describe('removing a member', () => {
  test('none of their keys for the team outlives it, also one they are just making', async ({ api }) => {
    const owner = await api.anAccount();
    const member = await api.anAccount();
    const team = await api.aTeam({ owner });
    const role = await api.aRole(team, ['manage_api_keys']);
    await api.aMember(team, member, { role: role.id });
    const remover = await api.anApiKey(owner, { scopes: ['members:write'] });
    const personal = await api.anApiKey(member, { scopes: ['api-keys:write', 'teams:read'] });
    const used = await api.anApiKey(member, { team, scopes: ['teams:read'] });
    const made: string[] = [];
    const work = async (turn: number): Promise<Answer> => {
      if (turn % 3 === 0) return api.at(turn, used).get(`/api/v1/teams/${team.id}`);
      const answer = await api
        .at(turn, personal)
        .post('/api/v1/api-keys', { name: `Key ${turn}`, scopes: ['teams:read'], teamId: team.id });
      if (answer.status === 201) made.push(answer.body.secret as string);
      return answer;
    };

    const { acknowledgement, after, all } = await aroundChange(work, () =>
      api.as(remover).delete(`/api/v1/teams/${team.id}/members/${member.id}`),
    );

    expect(acknowledgement.status).toBe(200);
    expect(made.length).toBeGreaterThan(0);
    expect(Object.keys(tally(after)).toSorted()).toEqual(['401 credential_invalid', '404 team_not_found']);
    expect(all.filter(({ status }) => status >= 500)).toEqual([]);
    for (const secret of made) expect(await api.as(secret).get('/api/v1/credential')).toBeProblem('credential_invalid');
    expect(
      await api.rows('select 1 from api_key where account_id = $1 and team_id = $2 and revoked_at is null', [
        member.id,
        team.id,
      ]),
    ).toEqual([]);
  });

  test('of 20 parallel removals of one member exactly one answers 200', async ({ api }) => {
    const owner = await api.anAccount();
    const member = await api.anAccount();
    const team = await api.aTeam({ owner });
    await api.aMember(team, member);
    const key = await api.anApiKey(owner, { scopes: ['members:write'] });

    const answers = await inParallel(20, (turn) =>
      api.at(turn, key).delete(`/api/v1/teams/${team.id}/members/${member.id}`),
    );

    expect(tally(answers)).toEqual({ 200: 1, '404 member_not_found': 19 });
  });
});

// Guarantees that nothing which writes several keys can deadlock with re-scoping, which locks them in this order too.
describe('keys are locked in the order of their ids', () => {
  test('by the batches that keep lastUsedAt', async ({ api }) => {
    const account = await api.anAccount();
    const { first, second } = inOrder(await api.anApiKey(account), await api.anApiKey(account));
    await api.usage.flush();
    await api.as(second).get('/api/v1/credential');
    await api.as(first).get('/api/v1/credential');
    await moveToTheEnd(api, first);

    const { flushed } = await whileLocked(api, [lockOf(first)], async (untilWaiting, run) => {
      const flushed = api.usage.flush();
      await untilWaiting();
      await run(lockOf(second));
      return { flushed };
    });

    await flushed;
    const used = await api.rows('select 1 from api_key where account_id = $1 and last_used_at is not null', [
      account.id,
    ]);
    expect(used).toHaveLength(2);
  });

  test('by the removal of a member', async ({ api }) => {
    const owner = await api.anAccount();
    const member = await api.anAccount();
    const team = await api.aTeam({ owner });
    await api.aMember(team, member);
    const { first, second } = inOrder(await api.anApiKey(member, { team }), await api.anApiKey(member, { team }));
    await moveToTheEnd(api, first);
    const remover = await api.anApiKey(owner, { scopes: ['members:write'] });

    const { removed } = await whileLocked(api, [lockOf(first)], async (untilWaiting, run) => {
      const removed = api.as(remover).delete(`/api/v1/teams/${team.id}/members/${member.id}`);
      await untilWaiting();
      await run(lockOf(second));
      return { removed };
    });

    expect((await removed).status).toBe(200);
  });

  const lockOf = ({ id }: AKey): string => `select 1 from api_key where id = '${id}' for update nowait`;

  /** Ids of one millisecond are in no order. */
  const inOrder = (one: AKey, two: AKey) =>
    one.id < two.id ? { first: one, second: two } : { first: two, second: one };

  /** Where a scan finds it last. */
  const moveToTheEnd = (api: Replicas, { id }: AKey) => api.rows('update api_key set name = name where id = $1', [id]);
});

/**
 * Runs the statements in a transaction and, before that commits, `meanwhile`, which can wait until something waits for
 * its locks and run more statements in it. What it starts is given back in an object, because a promise would be awaited.
 */
async function whileLocked<Started extends object>(
  api: Replicas,
  statements: readonly string[],
  meanwhile: (untilWaiting: () => Promise<void>, run: (sql: string) => Promise<unknown>) => Promise<Started>,
): Promise<Started> {
  const client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    for (const sql of statements) await client.query(sql);
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const untilWaiting = async () => await expect.poll(() => api.rows(waiting), { interval: 5 }).not.toEqual([]);
    const started = await meanwhile(untilWaiting, (sql) => client.query(sql));
    await client.query('commit');
    return started;
  } finally {
    await client.end();
  }
}

describe('all operations concurrently', () => {
  test('every operation by many accounts, until each was done: no fault, no deadlock, and the invariants hold', async () => {
    const api = await startReplicas({ KEY_LIMIT: '25', TEAM_LIMIT: '4' });
    const crowd = await aCrowd(api, 12);
    const outcomes = new Map<string, number>();
    const faults: string[] = [];
    let calls = 0;
    const goesOn = () => calls < 3000 || OPERATIONS.some(({ name }) => !outcomes.has(`${name} done`));

    const lane = async (turn: number): Promise<void> => {
      for (; goesOn(); turn += 1, calls += 1) {
        const operation = anyOf(OPERATIONS);
        const person = anyOf(crowd.people);
        const at = (key: AKey) => api.at(turn, key);
        const { status, text } = await operation.act({ person, crowd, at, caller: at(person.manager) });
        const outcome = `${operation.name} ${status < 400 ? 'done' : 'refused'}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (status >= 500) faults.push(`${operation.name}: ${text}`);
      }
    };
    const flush = async ({ usage }: Api): Promise<void> => {
      for (; goesOn(); await sleep(5)) await usage.flush();
    };
    await Promise.all([inParallel(24, lane), ...api.both.map(flush)]);

    expect(faults).toEqual([]);
    await api.close(async (rows) => {
      await expectNoDeadlock(rows);
      for (const [rule, violations] of Object.entries(VIOLATIONS)) expect(await rows(violations), rule).toEqual([]);
    });
    expect(faultsOf(api.both)).toEqual([]);
    expect(
      api.both.flatMap(({ lines }) =>
        lines.filter(({ msg }) => msg === 'last uses could not be written; they will be tried again'),
      ),
    ).toEqual([]);
  });
});

type Person = { readonly id: string; readonly manager: AKey; readonly keys: AKey[] };

/** Accounts that are members of each other's teams, with what they have made so far. */
type Crowd = { readonly people: readonly Person[]; readonly teams: string[] };

const MANY_PERMISSIONS = [
  'access_dashboard',
  'remove_members',
  'invite_members',
  'manage_api_keys',
  'edit_team_settings',
  'access_billing',
] as const;

async function aCrowd(api: Replicas, size: number): Promise<Crowd> {
  const people = await inParallel(size, async () => {
    const { id } = await api.anAccount();
    return { id, manager: await api.anApiKey({ id }, { scopes: SCOPES }), keys: [] };
  });
  const teams = await Promise.all(
    people.slice(0, size / 2).map(async (owner) => {
      const team = await api.aTeam({ owner });
      await api.aSubscription(team, { seats: 6 });
      const role = await api.aRole(team, MANY_PERMISSIONS);
      for (const person of people) if (person !== owner) await api.aMember(team, person, { role: role.id });
      return team.id;
    }),
  );
  return { people, teams };
}

const random = randomOf('racers');
const anyOf = <Item>(items: readonly Item[]): Item => choose(random, items);

const someScopes = (): Scope[] => {
  const scopes = SCOPES.filter(() => random(3) === 0);
  return scopes.length > 0 ? scopes : ['teams:read'];
};

/** What one turn of a lane works with: a person, the replica they call, and the crowd around them. */
type Turn = {
  readonly person: Person;
  readonly caller: Caller;
  readonly crowd: Crowd;
  readonly at: (key: AKey) => Caller;
};

type Operation = { readonly name: string; act(turn: Turn): Promise<Answer> };

function keep(person: Person, answer: Answer): Answer {
  if (answer.status === 201)
    person.keys.push({ id: answer.body.key.id as string, secret: answer.body.secret as string });
  return answer;
}

const OPERATIONS: readonly Operation[] = [
  { name: 'getMe', act: ({ caller }) => caller.get('/api/v1/me') },
  {
    name: 'updateMe',
    act: ({ caller }) => caller.patch('/api/v1/me', { firstName: 'Some', lastName: `Racer ${random(100)}` }),
  },
  { name: 'listTeams', act: ({ caller }) => caller.get('/api/v1/teams') },
  {
    name: 'createTeam',
    async act({ caller, crowd }) {
      const answer = await caller.post('/api/v1/teams', { name: anyOf(['Racers', 'Racers 2', 'Racers 2 3']) });
      if (answer.status === 201) crowd.teams.push(answer.body.id as string);
      return answer;
    },
  },
  { name: 'getTeam', act: ({ caller, crowd }) => caller.get(`/api/v1/teams/${anyOf(crowd.teams)}`) },
  {
    name: 'updateTeam',
    act: ({ caller, crowd }) => caller.patch(`/api/v1/teams/${anyOf(crowd.teams)}`, { name: `Team ${random(100)}` }),
  },
  { name: 'listTeamMembers', act: ({ caller, crowd }) => caller.get(`/api/v1/teams/${anyOf(crowd.teams)}/members`) },
  { name: 'listTeamRoles', act: ({ caller, crowd }) => caller.get(`/api/v1/teams/${anyOf(crowd.teams)}/roles`) },
  {
    name: 'removeTeamMember',
    act: ({ caller, crowd }) =>
      // Not each time, so that there are members until the end; other calls find none.
      caller.delete(
        `/api/v1/teams/${anyOf(crowd.teams)}/members/${random(3) === 0 ? anyOf(crowd.people).id : 'nobody'}`,
      ),
  },
  {
    name: 'createTeamInvitation',
    act: ({ caller, crowd }) =>
      caller.post(`/api/v1/teams/${anyOf(crowd.teams)}/invitations`, {
        email: `${anyOf(['guest', 'Guest', 'GUEST'])}-${random(70)}@example.com`,
      }),
  },
  {
    name: 'revokeTeamInvitation',
    async act({ caller, crowd }) {
      const team = anyOf(crowd.teams);
      const listed = await caller.get(`/api/v1/teams/${team}/invitations`);
      const pending: { id: string }[] = listed.status === 200 ? listed.body : [];
      return caller.delete(`/api/v1/teams/${team}/invitations/${pending.length === 0 ? 'none' : anyOf(pending).id}`);
    },
  },
  { name: 'getTeamBilling', act: ({ caller, crowd }) => caller.get(`/api/v1/teams/${anyOf(crowd.teams)}/billing`) },
  { name: 'listApiKeys', act: ({ caller }) => caller.get('/api/v1/api-keys') },
  {
    name: 'createApiKey',
    act: async ({ caller, person }) =>
      keep(
        person,
        await caller.post('/api/v1/api-keys', { name: 'Racer', scopes: [...someScopes(), 'api-keys:write'] }),
      ),
  },
  {
    name: 'createApiKey for a team',
    async act({ caller, person, crowd }) {
      const scopes = ['teams:read', ...someScopes().filter((scope) => !isAccountOnly(scope))];
      return keep(person, await caller.post('/api/v1/api-keys', { name: 'Racer', scopes, teamId: anyOf(crowd.teams) }));
    },
  },
  {
    name: 'updateApiKey of the latest keys by each other, in both orders',
    async act({ person, at, caller }) {
      const latest = person.keys.slice(-5);
      const order = random(2) === 0 ? latest : latest.toReversed();
      const narrow = (key: AKey, i: number) =>
        at(key).patch(`/api/v1/api-keys/${order.at(i - 1)?.id}`, { scopes: ['api-keys:write', 'teams:read'] });
      const answers = await Promise.all(order.map(narrow));
      return answers.find(({ status }) => status >= 500) ?? caller.get('/api/v1/credential');
    },
  },
  {
    name: 'updateApiKey',
    act: ({ caller, person }) =>
      caller.patch(`/api/v1/api-keys/${person.keys.length === 0 ? 'none' : anyOf(person.keys).id}`, {
        scopes: anyOf([['teams:read'], ['api-keys:write', 'teams:read']]),
      }),
  },
  {
    name: 'revokeApiKey',
    act: ({ caller, person }) =>
      caller.delete(`/api/v1/api-keys/${person.keys.length === 0 ? 'none' : anyOf(person.keys).id}`),
  },
  {
    name: 'use of a made key',
    act: ({ at, person }) => at(anyOf([person.manager, ...person.keys])).get('/api/v1/credential'),
  },
];

/** What must have no rows, whatever happened. */
const VIOLATIONS = {
  'a team has at most the seats of its plan': `
    select t.id from team t left join subscription s on s.team_id = t.id
    where (select count(*) from membership where team_id = t.id and is_active)
        + (select count(*) from invitation where team_id = t.id and accepted_at is null)
        > case when s.plan_id = 'pro' then 50 else 5 end + coalesce((s.addons ->> 'seats')::int, 0)`,
  'a team has exactly one owner': `
    select team.id from team where (select count(*) from membership where team_id = team.id and role_id = 'owner') <> 1`,
  'an address has at most one pending invitation': `
    select team_id, lower(email) from invitation where accepted_at is null group by 1, 2 having count(*) > 1`,
  'an active team key stands on a membership': `
    select k.id from api_key k where k.team_id is not null and k.revoked_at is null
      and not exists (select from membership m where m.team_id = k.team_id and m.account_id = k.account_id)`,
  'a team key holds no account-only scope': `
    select id from api_key where team_id is not null and scopes && array['profile:read', 'profile:write', 'api-keys:read', 'api-keys:write']`,
  'an account owns at most the teams of its limit': `
    select account_id from membership where role_id = 'owner' group by 1 having count(*) > 4`,
  'an account has at most the keys of its limit': `
    select account_id from api_key where team_id is null and revoked_at is null group by 1 having count(*) > 25`,
  'a team has at most the keys of its limit': `
    select team_id from api_key where team_id is not null and revoked_at is null group by 1 having count(*) > 25`,
  'a pending invitation has a link': `
    select id from invitation i where not exists (select from invitation_link where invitation_id = i.id)`,
};
