import { describe, expect } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import type { Meta } from '../../src/procedures/meta.ts';
import { appRouter } from '../../src/router.ts';
import { aFailedJob } from '../events/operator-mutations.ts';
import { test, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { as, inMinutes, outcomeOf, tally, withKey, type Trpc } from './console.ts';

type Procedure = { readonly _def: { readonly type: 'query' | 'mutation'; readonly meta?: Meta } };

const AREA = (Object.entries(appRouter._def.procedures) as unknown as [string, Procedure][]) // flat by path
  .filter(([path]) => path.startsWith('operator.'))
  .map(([path, { _def }]) => ({ path, name: path.slice('operator.'.length), ..._def }));

/** Calls a procedure without any input, which a caller who is let in is told. */
const call = (trpc: Trpc, { name, type }: (typeof AREA)[number]): Promise<unknown> => {
  const { operator } = trpc as unknown as { operator: Record<string, Record<string, () => Promise<unknown>>> };
  return operator[name]?.[type === 'query' ? 'query' : 'mutate']?.() ?? Promise.reject(new Error(name));
};

async function anOperator(api: Api) {
  const account = await api.anAccount();
  await api.rows(`update account set role = 'admin' where id = $1`, [account.id]);
  return account;
}

const eventsBy = (api: Api, { id }: { id: string }) =>
  api.rows<{ event: string; actor_kind: string }>(
    `select event, actor_kind from audit_event where actor_id = $1 and event <> 'access.denied' order by id`,
    [id],
  );

test('the operator’s area has the operations of the operator API and its own', () => {
  expect(AREA.length).toBeGreaterThan(25);
  for (const { path, meta } of AREA) expect([path, meta?.access?.operatorOnly]).toEqual([path, true]);
});

// Guarantees that the area does not exist for anybody else, whatever they send.
describe.for(AREA)('$path', (procedure) => {
  test('is denied to every role of a team, to former operators and to every credential but a session', async ({
    api,
  }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const others = [owner, await api.anAccount(), await api.anAccount(), await api.anAccount()];
    await api.aMember(team, others[1]!, { role: 'member' });
    await api.aMember(team, others[2]!, { role: 'guest' });
    for (const account of others)
      expect(await outcomeOf(call(await as(api, account), procedure))).toBe('route_not_found');

    const operator = await anOperator(api);
    expect(await outcomeOf(call(api.visitor().trpc, procedure))).toBe('credential_missing');
    expect(await outcomeOf(call(withKey(api, await api.anOperatorKey()), procedure))).toBe('credential_invalid');
    for (const credential of [
      await api.anApiKey(operator, { scopes: SCOPES }),
      await api.aGrant(operator, { scopes: SCOPES }),
    ])
      expect(await outcomeOf(call(withKey(api, credential), procedure))).toBe('session_required');
    const trpc = await as(api, operator);
    expect(['done', 'validation_failed']).toContain(await outcomeOf(call(trpc, procedure)));
    await api.rows(`update account set role = 'user' where id = $1`, [operator.id]);
    expect(await outcomeOf(call(trpc, procedure))).toBe('route_not_found');
    await api.rows(`update account set role = 'admin', disabled_at = now() where id = $1`, [operator.id]);
    expect(await outcomeOf(call(trpc, procedure))).toBe('credential_invalid');
  });
});

describe('a change in the operator’s area', () => {
  // Guarantees that teams do not learn which operator acted, nor from where.
  test('is the operator’s in the audit log of the team, and names the account in the whole log', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const operator = await anOperator(api);
    const trpc = await as(api, operator);
    await trpc.operator.setSubscription.mutate({ teamId: team.id, planId: 'pro' });

    const { events } = await (await as(api, owner)).audit.list.query({ teamId: team.id });
    expect(events).toMatchObject([{ event: 'team.plan_set', actorKind: 'operator', actor: null, address: null }]);
    expect(JSON.stringify(events)).not.toContain(operator.id);
    const all = await trpc.operator.audit.query({ teamId: team.id });
    expect(all.events).toMatchObject([
      { event: 'team.plan_set', actor: { kind: 'operator_session', account: { id: operator.id } } },
    ]);
  });

  test('is not made if the operator’s session or role ends while it waits', async ({ api }) => {
    for (const end of [
      'update session set revoked_at = now() where account_id = $1',
      `update account set role = 'user' where id = $1`,
    ]) {
      const team = await api.aTeam({ owner: await api.anAccount() });
      const operator = await anOperator(api);
      const trpc = await as(api, operator);
      const em = api.services.db.orm.em.fork();
      await em.begin();
      await em.execute('select from team where id = ? for update', [team.id]);
      const change = outcomeOf(trpc.operator.updateTeam.mutate({ teamId: team.id, description: 'Late' }));
      await expect
        .poll(() => api.rows(`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%team%'`))
        .not.toEqual([]);
      await api.rows(end, [operator.id]);
      await em.commit();

      expect(await change).toMatch(/^(credential_invalid|route_not_found)$/);
      expect(await api.rows('select description from team where id = $1', [team.id])).toEqual([{ description: null }]);
      expect(await eventsBy(api, operator)).toEqual([]);
    }
  });

  test('of the operator’s own account is refused if it could end their access', async ({ api }) => {
    const operator = await anOperator(api);
    const { operator: area } = await as(api, operator);
    const own = { accountId: operator.id };
    for (const change of [area.disableAccount, area.deleteAccount, area.endSessions])
      expect(await problemOf(change.mutate(own))).toMatchObject({ errors: [{ pointer: '/accountId' }] });

    expect(await outcomeOf(area.account.query(own))).toBe('done');
  });

  test('of two operators who delete each other concurrently one stays', async ({ api }) => {
    const [a, b] = [await anOperator(api), await anOperator(api)];
    const [ofA, ofB] = [await as(api, a), await as(api, b)];
    const outcomes = await tally([
      ofA.operator.deleteAccount.mutate({ accountId: b.id }),
      ofB.operator.deleteAccount.mutate({ accountId: a.id }),
    ]);

    expect(outcomes['done']).toBe(1);
    expect(await api.rows('select id from account where id in ($1, $2)', [a.id, b.id])).toHaveLength(1);
  });

  test('of a subscription that changed meanwhile is rejected, and changes nothing', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const { operator } = await as(api, await anOperator(api));
    const set = (planId: string) => operator.setSubscription.mutate({ teamId: team.id, planId, version: 0 });
    const outcomes = await tally([set('pro'), set('free'), set('pro')]);

    expect(outcomes).toEqual({ done: 1, version_mismatch: 2 });
    expect((await operator.team.query({ teamId: team.id })).subscription.version).toBe(1);
  });
});

describe('operator keys of a signed-in operator', () => {
  test('are created with any scopes and addresses, shown once, rotated with an overlap, and revoked', async ({
    api,
  }) => {
    const { operator } = await as(api, await anOperator(api));
    const { key, secret } = await operator.createOperatorKey.mutate({
      name: 'Billing',
      scopes: ['teams:read', 'keys:write'],
      addresses: ['127.0.0.0/8', '::1'],
      expiresInDays: 30,
    });
    expect(JSON.stringify(await operator.listOperatorKeys.query())).not.toContain(secret);
    const status = async (bearer: string) => (await api.as(bearer).get('/operator/v1/teams')).status;
    expect(await status(secret)).toBe(200);

    const rotated = await operator.rotateOperatorKey.mutate({ keyId: key.id, overlapHours: 1 });
    expect([await status(secret), await status(rotated.secret)]).toEqual([200, 200]);
    await operator.revokeOperatorKey.mutate({ keyId: key.id });
    expect([await status(secret), await status(rotated.secret)]).toEqual([401, 401]);
    expect(await outcomeOf(operator.revokeOperatorKey.mutate({ keyId: key.id }))).toBe('operator_key_not_found');
  });
});

describe('the lists of the operator’s area', () => {
  test('of keys have those of an account, and those of a team whoever made them, in pages', async ({ api }) => {
    const [ada, bob] = [await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner: ada });
    const keys = [
      await api.anApiKey(ada),
      await api.anApiKey(ada, { team }),
      await api.anApiKey(bob, { team }),
      await api.anApiKey(ada, { expiresAt: inMinutes(-1) }),
    ].map(({ id }) => id);
    await api.anApiKey(ada, { revoked: true });
    const { operator } = await as(api, await anOperator(api));
    const idsOf = async (of: 'account' | 'team', id: string) => {
      const ids: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page: Awaited<ReturnType<typeof operator.keys.query>> = await operator.keys.query({
          of,
          id,
          limit: 1,
          ...(cursor && { cursor }),
        });
        ids.push(...page.keys.map((key) => key.id));
        cursor = page.nextCursor;
      }
      return ids;
    };

    expect(await idsOf('account', ada.id)).toEqual([keys[0], keys[1], keys[3]]);
    expect(await idsOf('team', team.id)).toEqual([keys[1], keys[2]]);
    expect(JSON.stringify(await operator.keys.query({ of: 'account', id: ada.id }))).not.toMatch(/hash|secret/i);

    await operator.revokeKey.mutate({ keyId: keys[2] ?? '' });
    expect(await idsOf('team', team.id)).toEqual([keys[1]]);
    expect(await outcomeOf(operator.revokeKey.mutate({ keyId: keys[2] ?? '' }))).toBe('api_key_not_found');
  });

  test('of jobs have every state without payloads, and failed ones run again at once', async ({ api }) => {
    const { operator } = await as(api, await anOperator(api));
    const failed = await aFailedJob(api, 'Away\nat a line of code');
    const [waiting] = await api.rows<{ id: string }>(
      `select id::text from graphile_worker.add_job('nothingDoesThis', '{"to":"a@secret.example"}', run_at := now() + interval '1 day')`,
    );
    const listed = async (state?: 'waiting' | 'failed') =>
      (await operator.jobs.query({ ...(state && { state }) })).jobs.filter(({ id }) => Number(id) >= Number(failed));

    expect(await listed('failed')).toMatchObject([{ id: failed, attempts: 3, reason: 'Away', state: 'failed' }]);
    expect(await listed('waiting')).toMatchObject([{ id: waiting?.id, state: 'waiting', reason: null }]);
    expect(JSON.stringify(await listed())).not.toContain('secret');

    expect(await operator.retryJobs.mutate({ jobId: waiting?.id ?? '' })).toEqual({ retried: 0 });
    expect(await operator.retryJobs.mutate({ jobId: failed })).toEqual({ retried: 1 });
    const [job] = await api.rows<{ attempts: number; due: boolean }>(
      'select attempts::int, run_at <= now() as due from graphile_worker._private_jobs where id = $1',
      [failed],
    );
    expect(job === undefined || (job.due && job.attempts <= 1)).toBe(true);
  });

  test('are recorded as views, with the ids that they showed', async ({ api }) => {
    const account = await api.anAccount({ email: `viewed-${crypto.randomUUID()}@example.com` });
    const team = await api.aTeam({ owner: account });
    const operator = await anOperator(api);
    const trpc = await as(api, operator);
    await trpc.operator.listAccounts.query({ email: account.email });
    await trpc.operator.listMembers.query({ teamId: team.id });
    await trpc.operator.keys.query({ of: 'account', id: account.id });
    await trpc.operator.audit.query({ accountId: account.id });

    const about = await api.rows(
      `select event, account_id, team_id, details from audit_event where actor_id = $1 order by id`,
      [operator.id],
    );
    expect(about).toEqual([
      { event: 'operator.searched', account_id: operator.id, team_id: null, details: { found: [account.id] } },
      { event: 'operator.team_viewed', account_id: operator.id, team_id: team.id, details: {} },
      { event: 'operator.account_viewed', account_id: account.id, team_id: null, details: {} },
      { event: 'operator.audit_log_viewed', account_id: account.id, team_id: null, details: {} },
    ]);
  });
});

describe('the audit log of the operator’s area', () => {
  const ids = ({ events }: { events: readonly { id: string }[] }) => events.map(({ id }) => id);

  test('filters by action, actor, team, account, key and time, all together', async ({ api }) => {
    const ada = await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' });
    const team = await api.aTeam({ owner: ada, name: 'Engines' });
    const key = await api.anApiKey(ada, { scopes: ['teams:write'] });
    const operator = await anOperator(api);
    const trpc = await as(api, operator);
    const byKey = withKey(api, key);
    await byKey.updateTeam.mutate({ teamId: team.id, name: 'Engine' });
    await (await as(api, ada)).updateTeam.mutate({ teamId: team.id, name: 'Engines' });
    await trpc.operator.setSubscription.mutate({ teamId: team.id, planId: 'pro' });

    const list = (filters: Parameters<typeof trpc.operator.audit.query>[0]) => trpc.operator.audit.query(filters);
    const all = await list({ teamId: team.id });
    expect(all.events.map(({ event }) => event)).toEqual(['team.plan_set', 'team.renamed', 'team.renamed']);
    const [, bySession, withItsKey] = ids(all);
    expect(ids(await list({ teamId: team.id, event: 'team.renamed' }))).toEqual([bySession, withItsKey]);
    expect(ids(await list({ actorId: ada.id, teamId: team.id }))).toEqual([bySession, withItsKey]);
    expect(ids(await list({ keyId: key.id }))).toEqual([withItsKey]);
    expect(ids(await list({ keyId: key.id, event: 'team.plan_set' }))).toEqual([]);
    expect(all.events[2]).toMatchObject({
      actor: { kind: 'api_key', account: { id: ada.id, name: 'Ada Lovelace' }, address: '127.0.0.1' },
      credential: { id: key.id, name: 'A key' },
      team: { id: team.id, name: 'Engines' },
    });
    const { occurredAt } = all.events[1]!;
    const later = new Date(Date.parse(occurredAt) + 1).toISOString();
    expect(ids(await list({ teamId: team.id, from: occurredAt, to: later }))).toContain(bySession);
    expect(ids(await list({ teamId: team.id, to: occurredAt }))).not.toContain(bySession);
    expect(ids(await list({ teamId: team.id, from: '2099-01-01T00:00:00Z' }))).toEqual([]);
  });

  test('continues with the cursor of the same filters, and with no other', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const { operator } = await as(api, await anOperator(api));
    for (const name of ['One', 'Two', 'Three']) await operator.updateTeam.mutate({ teamId: team.id, name });
    const all = ids(await operator.audit.query({ teamId: team.id }));
    const first = await operator.audit.query({ teamId: team.id, limit: 2 });
    const cursor = first.nextCursor ?? '';

    expect(ids(first)).toEqual(all.slice(0, 2));
    const rest = await operator.audit.query({ teamId: team.id, limit: 2, cursor });
    expect([...ids(rest), rest.nextCursor, rest.isPartial]).toEqual([all[2], null, false]);
    expect(await outcomeOf(operator.audit.query({ cursor }))).toBe('validation_failed');
    expect(await outcomeOf(operator.audit.query({ cursor: 'nonsense' }))).toBe('validation_failed');
  });
});
