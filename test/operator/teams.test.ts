import { describe, expect } from 'vitest';
import { newId } from '../../src/entities/index.ts';
import { createCursors } from '../../src/procedures/cursors.ts';
import { test, type Api } from '../support/api.ts';
import { ALL_SCOPES } from '../rest/operations.ts';

const TEAMS = '/operator/v1/teams';

async function anOperator(api: Api) {
  const key = await api.anOperatorKey();
  return { ...api.as(key), key };
}

async function aTeamWithKey(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const key = await api.anApiKey(owner, { scopes: ALL_SCOPES });
  return { owner, team, as: api.as(key), path: `${TEAMS}/${team.id}` };
}

const eventsOf = async (api: Api, { id }: { id: string }) =>
  (
    await api.rows<{ event: string }>(
      `select event from audit_event where credential_id = $1 and actor_kind = 'operator_key' and event !~ 'used|viewed' order by id`,
      [id],
    )
  ).map(({ event }) => event);

describe('teams over the operator API', () => {
  test('a team is created for its owner, changed by its external id and deleted, and the owner sees each over /api/v1', async ({
    api,
  }) => {
    const operator = await anOperator(api);
    const owner = await api.anAccount();
    const as = api.as(await api.anApiKey(owner, { scopes: ALL_SCOPES }));
    const [accountExt, teamExt] = [newId('crm'), newId('tenant')];
    await operator.patch(`/operator/v1/accounts/${owner.id}`, { externalId: accountExt });

    const created = await operator.post(TEAMS, { name: 'Rockets', ownerId: `ext:${accountExt}`, externalId: teamExt });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ name: 'Rockets', ownerId: owner.id, externalId: teamExt, planId: 'free' });
    expect((await as.get(`/api/v1/teams/${created.body.id}`)).body).toMatchObject({
      name: 'Rockets',
      role: { id: 'owner' },
    });

    await operator.patch(`${TEAMS}/ext:${teamExt}`, { name: 'Kites', description: 'Of paper.' });
    expect((await as.get(`/api/v1/teams/${created.body.id}`)).body).toMatchObject({
      name: 'Kites',
      slug: created.body.slug,
    });
    expect((await operator.get(`${TEAMS}/ext:${teamExt}`)).body.name).toBe('Kites');

    expect((await operator.delete(`${TEAMS}/ext:${teamExt}`)).status).toBe(200);
    expect((await as.get('/api/v1/teams')).body).toEqual([]);
    expect(await eventsOf(api, operator.key)).toEqual([
      'account.profile_changed',
      'team.created',
      'member.added',
      'team.updated',
      'team.renamed',
      'team.deleted',
    ]);
  });

  test('an unknown owner is 404, an external id in use is 409', async ({ api }) => {
    const operator = await anOperator(api);
    const { owner, path } = await aTeamWithKey(api);
    const externalId = newId('tenant');
    await operator.patch(path, { externalId });

    for (const ownerId of ['acc_unknown', 'ext:unknown'])
      expect(await operator.post(TEAMS, { name: 'A', ownerId })).toBeProblem('account_not_found');
    expect(await operator.post(TEAMS, { name: 'A', ownerId: owner.id, externalId })).toBeProblem('already_taken');
    expect(await operator.patch((await aTeamWithKey(api)).path, { externalId })).toBeProblem('already_taken');
  });

  test('a POST that is repeated with its Idempotency-Key has one effect and one answer, also 20 at once', async ({
    api,
  }) => {
    const { key } = await anOperator(api);
    const owner = await api.anAccount();
    const send = () =>
      api.as(key).send({
        method: 'POST',
        path: TEAMS,
        headers: { 'content-type': 'application/json', 'idempotency-key': 'tenant' },
        body: JSON.stringify({ name: 'Rockets', ownerId: owner.id }),
      });
    const answers = await Promise.all(Array.from({ length: 20 }, send));

    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(await eventsOf(api, key)).toEqual(['team.created', 'member.added']);
  });

  test('lists and searches teams by name, slug and external id with cursors', async ({ api }) => {
    const operator = await anOperator(api);
    const stem = newId('s');
    const owner = await api.anAccount();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      const { body } = await operator.post(TEAMS, {
        name: `${stem} ${i}`,
        ownerId: owner.id,
        externalId: `${stem}.${4 - i}`,
      });
      ids.push(body.id);
    }
    const found = async (query: string) => {
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const { body } = await operator.get(`${TEAMS}?${query}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
        seen.push(...body.teams.map(({ id }: { id: string }) => id));
        cursor = body.nextCursor;
      }
      return seen;
    };

    expect(await found(`name=${stem.toUpperCase()}`)).toEqual(ids);
    expect(await found(`slug=${stem.replaceAll('_', '-')}`)).toEqual(ids);
    expect(await found(`externalId=${stem}`)).toEqual(ids.toReversed());
    expect((await found('')).filter((id) => ids.includes(id))).toEqual(ids);
  });

  test('lists the teams of a plan, oldest first: of `free` also those without a subscription', async ({ api }) => {
    const operator = await anOperator(api);
    const owner = await api.anAccount();
    const plan = newId('plan');
    const made: string[] = [];
    for (let i = 0; i < 6; i++)
      made.push((await operator.post(TEAMS, { name: `Of a plan ${i}`, ownerId: owner.id })).body.id);
    const [none, free, canceled, pro, retired, alsoRetired] = made;
    for (const [id, planId, status] of [
      [free, 'free', null],
      [pro, 'pro', 'active'],
      [canceled, 'pro', 'canceled'],
      [alsoRetired, plan, null],
      [retired, plan, null],
    ])
      await api.rows('insert into subscription (team_id, plan_id, status) values ($1, $2, $3)', [id, planId, status]);
    const found = async (planId: string) => {
      const seen: { id: string; planId: string }[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const query = `planId=${planId}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`;
        const { body } = await operator.get(`${TEAMS}?${query}`);
        seen.push(...body.teams);
        cursor = body.nextCursor;
      }
      for (const team of seen) {
        const { body } = await operator.get(`${TEAMS}/${team.id}/subscription`);
        expect([team.planId, body.planId]).toEqual([planId, planId]);
      }
      return seen.map(({ id }) => id).filter((id) => made.includes(id));
    };

    expect(await found('free')).toEqual([none, free]);
    expect(await found('pro')).toEqual([canceled, pro]);
    expect(await found(plan)).toEqual([retired, alsoRetired]);
    expect(await found(plan.slice(0, -1))).toEqual([]);
  });

  test('a page of `free` reads a bounded number of teams of other plans, and the pages after it find the rest', async ({
    api,
  }) => {
    const operator = await anOperator(api);
    const [last] = await api.rows<{ id: string }>('select max(id) as id from team');
    const before = last?.id ?? '';
    // More than a page reads, between two teams without a subscription. Ids are in the order of their creation.
    await api.rows(
      `with added as (
         insert into team (id, name, slug, created_at, updated_at)
         select 'team_zz' || lpad(n::text, 6, '0'), 'Many', 'many-' || n, now(), now() from generate_series(0, 5001) n
         returning id)
       insert into subscription (team_id, plan_id) select id, 'pro' from added
       where id not in ('team_zz000000', 'team_zz005001')`,
    );
    try {
      const pages: string[][] = [];
      const list = ['teams', 'planId', 'free', 'createdAt', false] as const;
      const cursor = createCursors(api.services, operator.key.id).write(list, { sort: '', id: before });
      for (let next: string | null = cursor; next !== null;) {
        const page: { teams: { id: string }[]; nextCursor: string | null } = (
          await operator.get(`${TEAMS}?planId=free&cursor=${next}`)
        ).body;
        pages.push(page.teams.map(({ id }) => id));
        next = page.nextCursor;
      }
      expect(pages).toEqual([['team_zz000000'], [], ['team_zz005001']]);
    } finally {
      await api.rows(`delete from team where id >= 'team_zz'`);
    }
  });

  test('rejects a plan together with a search, and the cursor of another plan', async ({ api }) => {
    const operator = await anOperator(api);
    for (let i = 0; i < 2; i++) await api.aTeam();
    const { nextCursor } = (await operator.get(`${TEAMS}?planId=free&limit=1`)).body;

    expect(typeof nextCursor).toBe('string');
    for (const query of ['planId=free&name=a', `planId=pro&cursor=${nextCursor}`, `cursor=${nextCursor}`, 'planId='])
      expect(await operator.get(`${TEAMS}?${query}`), query).toBeProblem('validation_failed');
  });
});

describe('members over the operator API', () => {
  test('a member is added, changed and removed, and the team sees each over /api/v1', async ({ api }) => {
    const operator = await anOperator(api);
    const { team, as, path } = await aTeamWithKey(api);
    const account = await api.anAccount();
    const seen = async () =>
      (await as.get(`/api/v1/teams/${team.id}/members`)).body.find(
        ({ userId }: { userId: string }) => userId === account.id,
      );

    const added = await operator.post(`${path}/members`, { accountId: account.id, roleId: 'guest' });
    expect(added.status).toBe(201);
    expect(added.body).toMatchObject({ accountId: account.id, role: { id: 'guest' }, isActive: true });
    expect(await seen()).toMatchObject({ roleId: 'guest', isActive: true });

    await operator.patch(`${path}/members/${account.id}`, { roleId: 'member', isActive: false });
    expect(await seen()).toMatchObject({ roleId: 'member', isActive: false });
    expect((await operator.delete(`${path}/members/${account.id}`)).status).toBe(200);
    expect(await seen()).toBeUndefined();
    expect(await operator.delete(`${path}/members/${account.id}`)).toBeProblem('member_not_found');
    expect(await eventsOf(api, operator.key)).toEqual(['member.added', 'member.updated', 'member.removed']);
  });

  test('the owner is neither changed nor removed, a second owner not made, and nobody added twice', async ({ api }) => {
    const operator = await anOperator(api);
    const { owner, path } = await aTeamWithKey(api);
    const account = await api.anAccount();
    const add = (body: object) => operator.post(`${path}/members`, body);

    expect(await operator.patch(`${path}/members/${owner.id}`, { roleId: 'guest' })).toBeProblem('owner_not_removable');
    expect(await operator.delete(`${path}/members/${owner.id}`)).toBeProblem('owner_not_removable');
    expect(await add({ accountId: account.id, roleId: 'owner' })).toBeProblem('role_not_assignable');
    expect(await add({ accountId: account.id, roleId: 'unknown' })).toBeProblem('validation_failed');
    expect(await add({ accountId: 'acc_unknown' })).toBeProblem('account_not_found');
    const twice = await Promise.all([add({ accountId: account.id }), add({ accountId: account.id })]);
    expect(twice.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
    const { errors } = twice.find(({ status }) => status === 409)?.body ?? {};
    expect(errors).toEqual([{ in: 'body', pointer: '/accountId', code: 'invalid_value' }]);
  });

  test('a disabled account gets no team and no membership, and keeps those it has', async ({ api }) => {
    const operator = await anOperator(api);
    const { owner, path } = await aTeamWithKey(api);
    const [member, other] = [await api.anAccount(), await api.anAccount()];
    await operator.post(`${path}/members`, { accountId: member.id });
    for (const { id } of [member, other]) await operator.post(`/operator/v1/accounts/${id}/disable`);

    for (const [answer, pointer] of [
      [await operator.post(TEAMS, { name: 'Late', ownerId: other.id }), '/ownerId'],
      [await operator.post(`${path}/members`, { accountId: other.id }), '/accountId'],
      [await operator.post(`${path}/transfer`, { accountId: member.id }), '/accountId'],
    ] as const) {
      expect(answer).toBeProblem('validation_failed');
      expect(answer.body.errors).toEqual([{ in: 'body', pointer, code: 'invalid_value' }]);
    }
    expect((await operator.get(path)).body.ownerId).toBe(owner.id);
    const { members } = (await operator.get(`${path}/members`)).body;
    expect(members.map(({ accountId }: { accountId: string }) => accountId)).toEqual([owner.id, member.id]);
    expect((await operator.patch(`${path}/members/${member.id}`, { roleId: 'guest' })).status).toBe(200);
  });

  test('an account whose email address is not verified owns no team, new or transferred', async ({ api }) => {
    const operator = await anOperator(api);
    const { owner, path } = await aTeamWithKey(api);
    const { body: account } = await operator.post('/operator/v1/accounts', {
      email: `${crypto.randomUUID()}@own.example`,
    });

    for (const [answer, pointer] of [
      [await operator.post(TEAMS, { name: 'Unproven', ownerId: account.id }), '/ownerId'],
      [await operator.post(`${path}/transfer`, { accountId: account.id }), '/accountId'],
    ] as const) {
      expect(answer).toBeProblem('email_not_verified');
      expect(answer.body.errors).toEqual([{ in: 'body', pointer, code: 'invalid_value' }]);
    }
    expect((await operator.get(path)).body.ownerId).toBe(owner.id);
    await operator.patch(`/operator/v1/accounts/${account.id}`, { isEmailVerified: true });
    expect((await operator.post(TEAMS, { name: 'Proven', ownerId: account.id })).status).toBe(201);
  });

  test('an account that is no member becomes the owner, and the former owner a member', async ({ api }) => {
    const operator = await anOperator(api);
    const { owner, team, path } = await aTeamWithKey(api);
    const next = await api.anAccount();
    const asNext = api.as(await api.anApiKey(next, { scopes: ALL_SCOPES }));

    expect((await operator.post(`${path}/transfer`, { accountId: next.id })).body.ownerId).toBe(next.id);
    const { body } = await asNext.get(`/api/v1/teams/${team.id}/members`);
    const roles = Object.fromEntries(
      body.map((member: { userId: string; roleId: string }) => [member.userId, member.roleId]),
    );
    expect(roles).toEqual({ [owner.id]: 'member', [next.id]: 'owner' });
    const again = await operator.post(`${path}/transfer`, { accountId: next.id });
    expect(again).toBeProblem('validation_failed');
    expect(again.body.errors).toEqual([{ in: 'body', pointer: '/accountId', code: 'invalid_value' }]);
    expect(await eventsOf(api, operator.key)).toEqual(['member.added', 'ownership.transferred']);
  });

  test('members are listed in pages that are stable while members are added', async ({ api }) => {
    const operator = await anOperator(api);
    const { owner, team, path } = await aTeamWithKey(api);
    const ids = [owner.id];
    for (let i = 0; i < 4; i++) {
      const account = await api.anAccount();
      await api.aMember(team, account);
      ids.push(account.id);
    }
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await operator.get(`${path}/members?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...body.members.map(({ accountId }: { accountId: string }) => accountId));
      cursor = body.nextCursor;
      if (seen.length === 2) await api.rows('delete from membership where account_id = $1', [ids[0]]);
    }
    expect(seen).toEqual(ids);
    expect(await operator.get(`${TEAMS}/team_unknown/members`)).toBeProblem('team_not_found');
  });
});

describe('subscriptions over the operator API', () => {
  const set = (api: Api, key: { secret: string }, path: string, etag: string | undefined, body: object) =>
    api.as(key).send({
      method: 'PUT',
      path: `${path}/subscription`,
      headers: { 'content-type': 'application/json', ...(etag !== undefined && { 'if-match': etag }) },
      body: JSON.stringify(body),
    });

  test('is not changed by an `If-Match` that names a version in another way', async ({ api }) => {
    const operator = await anOperator(api);
    const { path } = await aTeamWithKey(api);

    expect(await set(api, operator.key, path, '"00"', { planId: 'pro' })).toBeProblem('validation_failed');
    expect((await set(api, operator.key, path, '"0"', { planId: 'pro' })).status).toBe(200);
  });

  test('is not changed if `If-Match` and `version` differ', async ({ api }) => {
    const operator = await anOperator(api);
    const { path } = await aTeamWithKey(api);

    const answer = await set(api, operator.key, path, '"0"', { planId: 'pro', version: 1 });
    expect(answer).toBeProblem('validation_failed');
    expect(answer.body.errors).toMatchObject([{ in: 'header', pointer: '/If-Match', code: 'invalid_value' }]);
    expect((await operator.get(`${path}/subscription`)).body.version).toBe(0);
    expect((await set(api, operator.key, path, '"0"', { planId: 'pro', version: 0 })).status).toBe(200);
  });

  test('has a version as its ETag, and is what /api/v1 shows', async ({ api }) => {
    const operator = await anOperator(api);
    const { key } = operator;
    const { team, as, path } = await aTeamWithKey(api);
    const first = await operator.get(`${path}/subscription`);
    expect(first.headers.etag).toBe('"0"');
    expect(first.body).toMatchObject({ planId: 'free', status: null, version: 0 });

    const fields = { planId: 'pro', status: 'active', interval: 'year', addons: { seats: 3 }, cancelAtPeriodEnd: true };
    const changed = await set(api, key, path, '"0"', { ...fields, planExpiresAt: '2030-01-31T13:00:00+01:00' });
    expect([changed.status, changed.headers.etag]).toEqual([200, '"1"']);
    const { version, ...shown } = changed.body;
    expect(version).toBe(1);
    expect(shown).toMatchObject({ ...fields, planExpiresAt: '2030-01-31T12:00:00.000Z' });
    expect((await as.get(`/api/v1/teams/${team.id}/billing`)).body).toEqual(shown);
    expect((await operator.get(`${path}/subscription`)).body).toEqual(changed.body);
  });

  test('of two updates of one version one wins, and the other is told and changes nothing', async ({ api }) => {
    const operator = await anOperator(api);
    const { key } = operator;
    const { path } = await aTeamWithKey(api);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => set(api, key, path, '"0"', { planId: 'pro', addons: { seats: i } })),
    );
    const won = answers.filter(({ status }) => status === 200);

    expect(won).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expect(answer).toBeProblem('version_mismatch');
    expect((await operator.get(`${path}/subscription`)).body).toEqual(won[0]?.body);
    expect(await eventsOf(api, key)).toEqual(['team.plan_set']);
  });

  test('an old billing event cannot undo a newer one; without a condition the last one counts', async ({ api }) => {
    const { key } = await anOperator(api);
    const { path } = await aTeamWithKey(api);
    await set(api, key, path, '"0"', { planId: 'pro' });

    expect(await set(api, key, path, '"0"', { planId: 'free' })).toBeProblem('version_mismatch');
    const byMember = await set(api, key, path, undefined, { planId: 'free', version: 0 });
    expect(byMember).toBeProblem('version_mismatch');
    expect(byMember.body.detail).toContain('version 1');
    expect((await set(api, key, path, '*', { planId: 'free' })).headers.etag).toBe('"2"');
    expect((await set(api, key, path, undefined, { planId: 'pro' })).headers.etag).toBe('"3"');
  });

  test('rejects tags that it never gives, unknown plans and units that are no number', async ({ api }) => {
    const { key } = await anOperator(api);
    const { path } = await aTeamWithKey(api);

    for (const etag of ['0', 'W/"0"', '"0", "1"', '"x"', '""', ''])
      expect(await set(api, key, path, etag, { planId: 'pro' }), etag).toBeProblem('validation_failed');
    for (const body of [
      { planId: 'gold' },
      { planId: 'pro', addons: { seats: -1 } },
      { planId: 'pro', planExpiresAt: '0000-01-01T00:00:00Z' },
      { planId: 'pro', status: 'paid' },
      {},
    ])
      expect(await set(api, key, path, undefined, body)).toBeProblem('validation_failed');
    expect(await set(api, key, `${TEAMS}/team_unknown`, undefined, { planId: 'pro' })).toBeProblem('team_not_found');
    expect(await eventsOf(api, key)).toEqual([]);
  });
});
