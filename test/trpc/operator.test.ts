import { describe, expect } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { findAccounts, findTeams, FOUND_MAX } from '../../src/resources/operator/search.queries.ts';
import { test, type Api } from '../support/api.ts';
import { problemOf, signedIn } from '../support/browser.ts';
import { as, inMinutes, outcomeOf, tally, withKey, type Trpc } from './console.ts';

type Ids = { readonly accountId: string; readonly teamId: string };

const CALLS: readonly { readonly name: string; readonly call: (trpc: Trpc, ids: Ids) => Promise<unknown> }[] = [
  { name: 'operator.find', call: (trpc, { accountId }) => trpc.operator.find.query({ query: accountId }) },
  { name: 'operator.account', call: (trpc, { accountId }) => trpc.operator.account.query({ accountId }) },
  { name: 'operator.team', call: (trpc, { teamId }) => trpc.operator.team.query({ teamId }) },
  {
    name: 'operator.disableAccount',
    call: (trpc, { accountId }) => trpc.operator.disableAccount.mutate({ accountId }),
  },
  { name: 'operator.enableAccount', call: (trpc, { accountId }) => trpc.operator.enableAccount.mutate({ accountId }) },
  { name: 'operator.health', call: (trpc) => trpc.operator.health.query() },
];

const NOTHING: Ids = { accountId: 'nothing', teamId: 'nothing' };

async function anOperator(api: Api): Promise<{ id: string; email: string }> {
  const account = await api.anAccount();
  await api.rows(`update account set role = 'admin' where id = $1`, [account.id]);
  return account;
}

async function aWorld(api: Api): Promise<Ids & { readonly owner: { id: string } }> {
  const owner = await api.anAccount();
  const { id: teamId } = await api.aTeam({ owner });
  return { owner, accountId: (await api.anAccount()).id, teamId };
}

/** What the log tells an auditor of an operator. */
const audited = (api: Api, operator: { id: string }) =>
  api.lines
    .filter(({ audit, accountId }) => typeof audit === 'string' && accountId === operator.id)
    .map(({ audit, subjectId, teamId, found }) => ({
      audit,
      ...(subjectId === undefined ? {} : { subjectId }),
      ...(teamId === undefined ? {} : { teamId }),
      ...(found === undefined ? {} : { found }),
    }));

const disabledAt = async (api: Api, accountId: string) =>
  (await api.rows<{ disabled_at: string | null }>('select disabled_at from account where id = $1', [accountId]))[0]
    ?.disabled_at;

const withoutId = (problem: object) => ({ ...problem, requestId: '' });

describe.for(CALLS)('$name', ({ call }) => {
  // Guarantees that other users only learn that the procedure does not exist, and that nothing is recorded.
  test('is only for operators: for other callers it does not exist', async ({ api }) => {
    const world = await aWorld(api);
    const unknown = withoutId(await problemOf(call({ operator: misspelt(api.visitor().trpc) } as Trpc, world)));

    for (const account of [await api.anAccount(), world.owner]) {
      const trpc = await as(api, account);
      const refusal = await problemOf(call(trpc, world));
      expect(refusal).toMatchObject({ code: 'route_not_found', status: 404 });
      expect(withoutId(refusal)).toEqual(unknown);
      expect(withoutId(await problemOf(call(trpc, NOTHING)))).toEqual(unknown);
      expect(withoutId(await problemOf(call(trpc, { accountId: '', teamId: '' })))).toEqual(unknown);
      expect(audited(api, account)).toEqual([]);
    }
    expect(await disabledAt(api, world.accountId)).toBeNull();
  });

  test('needs a session: no key and no grant of an operator does', async ({ api }) => {
    const world = await aWorld(api);
    const operator = await anOperator(api);
    const credentials = [
      await api.anApiKey(operator, { scopes: SCOPES }),
      await api.aGrant(operator, { scopes: SCOPES }),
    ];

    expect(await outcomeOf(call(api.visitor().trpc, world))).toBe('credential_missing');
    for (const credential of credentials)
      expect(await outcomeOf(call(withKey(api, credential), world))).toBe('session_required');
    expect(audited(api, operator)).toEqual([]);
    expect(await disabledAt(api, world.accountId)).toBeNull();
    expect(await outcomeOf(call(await as(api, operator), world))).toBe('done');
  });

  test('ends with the role, within the session', async ({ api }) => {
    const world = await aWorld(api);
    const operator = await anOperator(api);
    const trpc = await as(api, operator);
    expect(await outcomeOf(call(trpc, world))).toBe('done');
    await api.rows(`update account set role = 'user' where id = $1`, [operator.id]);

    expect(await outcomeOf(call(trpc, world))).toBe('route_not_found');
  });
});

/** The same calls to procedures that there are not. */
const misspelt = (trpc: Trpc): unknown =>
  new Proxy(
    {},
    { get: (_, name) => (trpc as unknown as Record<string, Record<string, unknown>>)['operators']?.[String(name)] },
  );

describe('operator.find', () => {
  const idsOf = async (trpc: Trpc, query: string) => {
    const { accounts, teams } = await trpc.operator.find.query({ query });
    return [...accounts, ...teams].map(({ id }) => id);
  };

  test('finds by an id, and by the beginning of an address, a name or a slug, whatever the case', async ({ api }) => {
    const trpc = await as(api, await anOperator(api));
    const ada = await api.anAccount({ email: 'Ada.Lovelace@find.example', firstName: 'Ada', lastName: 'Lovelace' });
    const adam = await api.anAccount({ email: 'adam@find.example' });
    const engine = await api.aTeam({ name: 'Ärzte der Analytical Engine' });
    await api.rows(`update team set slug = 'aerzte-77' where id = $1`, [engine.id]);

    expect(await trpc.operator.find.query({ query: ada.id })).toEqual({
      accounts: [{ id: ada.id, email: ada.email, firstName: 'Ada', lastName: 'Lovelace', disabledAt: null }],
      teams: [],
    });
    expect(await trpc.operator.find.query({ query: engine.id })).toEqual({
      accounts: [],
      teams: [{ id: engine.id, name: engine.name, slug: 'aerzte-77' }],
    });
    expect(await idsOf(trpc, 'aDA.l')).toEqual([ada.id]);
    expect((await idsOf(trpc, 'ada')).toSorted()).toEqual([ada.id, adam.id].toSorted());
    expect(await idsOf(trpc, 'ärzte DER')).toEqual([engine.id]);
    expect(await idsOf(trpc, 'Aerzte-7')).toEqual([engine.id]);
    expect(await idsOf(trpc, 'lovelace')).toEqual([]);
    expect(await idsOf(trpc, ada.id.slice(0, -1))).toEqual([]);
  });

  test('takes every character as itself', async ({ api }) => {
    const trpc = await as(api, await anOperator(api));
    const percent = await api.anAccount({ email: '100%_sure@signs.example' });
    await api.anAccount({ email: '100 or_sure@signs.example' });
    const backslash = await api.aTeam({ name: 'back\\slash' });
    await api.aTeam({ name: 'backslash' });

    expect(await idsOf(trpc, '100%')).toEqual([percent.id]);
    expect(await idsOf(trpc, '100%_s')).toEqual([percent.id]);
    expect(await idsOf(trpc, '100__')).toEqual([]);
    expect(await idsOf(trpc, 'back\\')).toEqual([backslash.id]);
    for (const query of ['%', '_', '%@signs.example', '\\']) expect(await idsOf(trpc, query)).toEqual([]);
    expect(await outcomeOf(idsOf(trpc, 'a\u0000'))).toBe('validation_failed');
    expect(await outcomeOf(idsOf(trpc, ''))).toBe('validation_failed');
  });

  test('gives 20 of each at most, each once', async ({ api }) => {
    const trpc = await as(api, await anOperator(api));
    for (let i = 0; i <= FOUND_MAX; i += 1) {
      await api.anAccount({ email: `crowd-${i}@many.example` });
      const team = await api.aTeam({ name: `crowd ${i}` });
      await api.rows('update team set slug = $2 where id = $1', [team.id, `crowd-${i}`]);
    }

    const { accounts, teams } = await trpc.operator.find.query({ query: 'crowd' });
    expect(accounts).toHaveLength(FOUND_MAX);
    expect(teams).toHaveLength(FOUND_MAX);
    expect(new Set(teams.map(({ id }) => id)).size).toBe(FOUND_MAX);
  });

  // Guarantees that a search among millions reads a few rows.
  test.for([findAccounts, findTeams])('$name walks indexes, and sorts nothing', async ({ text }, { api }) => {
    const plan = await api.services.db.transact(async ({ em: tx }) => {
      await tx.execute('set local enable_seqscan = off');
      await tx.execute('set local enable_bitmapscan = off');
      return tx.execute<{ 'QUERY PLAN': string }[]>(
        `explain ${text.replaceAll('$1', `'acc_1'`).replaceAll('$2', `'Ad%'`)}`,
      );
    });
    const lines = plan.map((line) => line['QUERY PLAN']).join('\n');

    expect(lines).not.toMatch(/Seq Scan|Sort/);
    expect(lines.match(/Index Cond: .*~>=~|Index Cond: .*>= 'ad'/g)).toHaveLength(text === findAccounts.text ? 1 : 2);
  });
});

describe('what an operator sees', () => {
  test('of an account: who it is, its teams, and how many credentials are valid', async ({ api }) => {
    const trpc = await as(api, await anOperator(api));
    const account = await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' });
    const own = await api.aTeam({ owner: account, name: 'Analytical Engine' });
    const other = await api.aTeam({ name: 'Difference Engine' });
    await api.aMember(other, account, { role: 'guest', active: false });
    await api.aSession(account);
    await api.aSession(account, { expiresAt: inMinutes(-1) });
    await api.anApiKey(account);
    await api.anApiKey(account, { team: own });
    await api.anApiKey(account, { revoked: true });
    await api.anApiKey(account, { expiresAt: inMinutes(-1) });
    await api.aGrant(account);
    await api.aGrant(account, { expiresAt: inMinutes(-1) });

    const seen = await trpc.operator.account.query({ accountId: account.id });

    expect(seen).toEqual({
      id: account.id,
      email: account.email,
      firstName: 'Ada',
      lastName: 'Lovelace',
      role: 'user',
      preferredLocale: null,
      externalId: null,
      emailVerified: expect.any(String) as string,
      disabledAt: null,
      createdAt: expect.any(String) as string,
      teamCount: 2,
      teams: [
        { id: own.id, name: 'Analytical Engine', role: { id: 'owner', name: 'Owner' }, isActive: true },
        { id: other.id, name: 'Difference Engine', role: { id: 'guest', name: 'Guest' }, isActive: false },
      ],
      sessions: 1,
      sessionMethods: ['password'],
      keys: 2,
      grants: 1,
    });
  });

  test('of a team: whose it is, its size, its plan and its seats', async ({ api }) => {
    const trpc = await as(api, await anOperator(api));
    const owner = await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner, name: 'Analytical Engine' });
    await api.aMember(team, await api.anAccount(), { active: false });
    await api.aMember(team, await api.anAccount(), { expiresAt: inMinutes(-1) });
    await api.anInvitation(team);
    await api.anInvitation(team, { expiresAt: inMinutes(-1) });
    await api.aSubscription(team, { plan: 'pro', seats: 3 });

    expect(await trpc.operator.team.query({ teamId: team.id })).toEqual({
      id: team.id,
      name: 'Analytical Engine',
      slug: team.slug,
      createdAt: expect.any(String) as string,
      owner: { id: owner.id, email: owner.email, firstName: 'Ada', lastName: 'Lovelace' },
      members: 3,
      pendingInvitations: 1,
      description: null,
      externalId: null,
      subscription: {
        planId: 'pro',
        planName: 'Pro',
        status: 'active',
        interval: 'month',
        addons: { seats: 3 },
        planExpiresAt: null,
        cancelAtPeriodEnd: false,
        needsPaymentAction: false,
        version: 1,
      },
      plans: [
        { id: 'free', name: 'Free', seats: 5 },
        { id: 'pro', name: 'Pro', seats: 50 },
      ],
      seats: { total: 53, taken: 2 },
    });
    const { id } = await api.aTeam();
    expect(await trpc.operator.team.query({ teamId: id })).toMatchObject({
      owner: null,
      members: 0,
      subscription: { planId: 'free', planName: 'Free', status: null, version: 0 },
      seats: { total: 5, taken: 0 },
    });
  });

  test('of unknown ids: an error that names the reason', async ({ api }) => {
    const { operator } = await as(api, await anOperator(api));

    expect(await outcomeOf(operator.account.query(NOTHING))).toBe('account_not_found');
    expect(await outcomeOf(operator.team.query(NOTHING))).toBe('team_not_found');
    expect(await outcomeOf(operator.disableAccount.mutate(NOTHING))).toBe('account_not_found');
    expect(await outcomeOf(operator.enableAccount.mutate(NOTHING))).toBe('account_not_found');
  });
});

describe('the log', () => {
  // Guarantees that an auditor can see whose data an operator viewed and changed, without an address in the log.
  test('names every account and team that was shown or changed', async ({ api }) => {
    const operator = await anOperator(api);
    const trpc = await as(api, operator);
    const account = await api.anAccount({ email: 'Logged@audit.example' });
    const team = await api.aTeam({ name: 'logged team' });

    await trpc.operator.find.query({ query: 'logged' });
    await trpc.operator.find.query({ query: 'nobody@audit.example' });
    await trpc.operator.account.query({ accountId: account.id });
    await trpc.operator.team.query({ teamId: team.id });
    await trpc.operator.disableAccount.mutate({ accountId: account.id });
    await trpc.operator.enableAccount.mutate({ accountId: account.id });

    expect(audited(api, operator)).toEqual([
      { audit: 'operator.searched', found: [account.id, team.id] },
      { audit: 'operator.searched', found: [] },
      { audit: 'operator.account_viewed', subjectId: account.id },
      { audit: 'operator.team_viewed', teamId: team.id },
      { audit: 'operator.account_disabled', subjectId: account.id },
      { audit: 'operator.account_enabled', subjectId: account.id },
    ]);
    expect(JSON.stringify(api.lines)).not.toMatch(/audit\.example/i);
  });

  test('records neither denied calls nor those about the health', async ({ api }) => {
    const operator = await anOperator(api);
    const trpc = await as(api, operator);
    for (const { call } of CALLS.slice(1, -1)) expect(await outcomeOf(call(trpc, NOTHING))).toMatch(/_not_found$/);
    expect(await outcomeOf(trpc.operator.disableAccount.mutate({ accountId: operator.id }))).toBe('validation_failed');
    await trpc.operator.health.query();

    expect(audited(api, operator)).toEqual([]);
  });
});

describe('disabling an account', () => {
  test('revokes its sessions and rejects its keys and grants from the next request; enabling restores keys and grants', async ({
    api,
  }) => {
    const { operator } = await as(api, await anOperator(api));
    const account = await api.anAccount();
    const session = await as(api, account);
    const credentials = [
      await api.anApiKey(account),
      await api.aGrant(account),
      await api.anApiKey(account, { team: await api.aTeam({ owner: account }) }),
    ];
    const outcomes = async () => [
      await outcomeOf(session.listTeams.query()),
      ...(await Promise.all(credentials.map((credential) => outcomeOf(withKey(api, credential).listTeams.query())))),
    ];
    expect(await outcomes()).toEqual(['done', 'done', 'done', 'done']);

    await operator.disableAccount.mutate({ accountId: account.id });
    expect(await outcomes()).toEqual(Array.from({ length: 4 }, () => 'credential_invalid'));
    expect((await operator.account.query({ accountId: account.id })).disabledAt).not.toBeNull();

    const since = await disabledAt(api, account.id);
    await operator.disableAccount.mutate({ accountId: account.id });
    expect(await disabledAt(api, account.id)).toEqual(since);

    await operator.enableAccount.mutate({ accountId: account.id });
    expect(await outcomes()).toEqual(['credential_invalid', 'done', 'done', 'done']);
    expect(await operator.account.query({ accountId: account.id })).toMatchObject({ disabledAt: null, sessions: 0 });
  });

  test('is not for the operator’s own account', async ({ api }) => {
    const operator = await anOperator(api);
    const { trpc } = await signedIn(api, operator);

    const refusal = await problemOf(trpc.operator.disableAccount.mutate({ accountId: operator.id }));
    expect(refusal).toMatchObject({
      code: 'validation_failed',
      errors: [{ in: 'body', pointer: '/accountId', code: 'invalid_value' }],
    });
    expect(await disabledAt(api, operator.id)).toBeNull();
    expect(await outcomeOf(trpc.operator.health.query())).toBe('done');
  });

  // Guarantees that two operators who quarrel do not leave the installation without one.
  test('of two operators who disable each other concurrently one stays enabled', async ({ api }) => {
    for (let i = 0; i < 5; i += 1) {
      const [a, b] = [await anOperator(api), await anOperator(api)];
      const [ofA, ofB] = [await as(api, a), await as(api, b)];
      const outcomes = await tally([
        ofA.operator.disableAccount.mutate({ accountId: b.id }),
        ofB.operator.disableAccount.mutate({ accountId: a.id }),
      ]);

      expect(outcomes['done']).toBe(1);
      expect([await disabledAt(api, a.id), await disabledAt(api, b.id)].filter((at) => at === null)).toHaveLength(1);
    }
  });
});

test('operator.health counts jobs and quotes the first line of what failed last', async ({ api }) => {
  const { operator } = await as(api, await anOperator(api));
  const before = await operator.health.query();
  await aJob('nothingDoesThis');
  const failed = await aJob('nothingDoesThisEither');
  await api.rows(`update graphile_worker._private_jobs set attempts = 3, last_error = $2 where id = $1`, [
    failed,
    'The mail server is away\nat a line of code',
  ]);
  await api.rows(`update graphile_worker._private_jobs set locked_at = now(), locked_by = 'a worker' where id = $1`, [
    await aJob('nothingDoesThis'),
  ]);

  async function aJob(task: string): Promise<string | undefined> {
    const [job] = await api.rows<{ id: string }>(
      `select id::text from graphile_worker.add_job($1, '{"secret":"sealed"}', run_at := now() + interval '1 day')`,
      [task],
    );
    return job?.id;
  }

  const { version, uptimeSeconds, database, redis, jobs } = await operator.health.query();

  expect({ version, redis }).toEqual({ version: '1.0.0', redis: 'none' });
  expect(uptimeSeconds).toBeGreaterThanOrEqual(0);
  expect(database.version).toMatch(/^\d+/);
  expect(database.latencyMs).toBeGreaterThanOrEqual(0); // in tenths of a millisecond, which a quick answer rounds to zero
  expect(jobs).toMatchObject({
    waiting: before.jobs.waiting + 1,
    running: before.jobs.running + 1,
    failed: before.jobs.failed + 1,
  });
  expect(jobs.failures[0]).toEqual({
    id: failed,
    task: 'nothingDoesThisEither',
    attempts: 3,
    attemptsMax: 25,
    nextAt: expect.any(String) as string,
    reason: 'The mail server is away',
  });
  expect(JSON.stringify(jobs)).not.toContain('sealed');
});
