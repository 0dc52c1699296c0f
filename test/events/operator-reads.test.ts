import pg from 'pg';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { createOperatorReadLog } from '../../src/events/operator-reads.ts';
import { startApi, test, type Api } from '../support/api.ts';
import { queryOf } from '../oauth/flow.ts';
import { as } from '../trpc/console.ts';
import type { EventRow } from './events.ts';

const idsOf = (requestId: string) => ({ requestId, clientRequestId: null });

const ONCE = '2026-11-22T10:00:00.000Z';

async function aService(): Promise<Api> {
  const api = await startApi({ OPERATOR_RATE_LIMIT: '100' });
  onTestFinished(() => api.close());
  return api;
}

async function anOperator(api: Api) {
  const account = await api.anAccount();
  await api.rows(`update account set role = 'admin' where id = $1`, [account.id]);
  return account;
}

const readsOf = (api: Api, key: { id: string }) =>
  api.rows<EventRow>(
    `select * from audit_event where credential_id = $1 and (event = 'operator_key.used' or event like '%viewed')
     order by event collate "C", details->>'operation' collate "C", id`,
    [key.id],
  );

const countsOf = async (api: Api, key: { id: string }) =>
  (await readsOf(api, key)).map(({ event, details, account_id, team_id, count }) => [
    event,
    details['operation'] ?? account_id ?? team_id,
    count,
  ]);

describe('reads of an operator key', () => {
  test('write nothing while they are answered, and are then in the audit log as the key’s, by operation', async () => {
    const api = await aService();
    const key = await api.anOperatorKey();
    const caller = api.as(key);
    const [account, team] = [await api.anAccount(), await api.aTeam({ owner: await api.anAccount() })];
    const personalKey = await api.anApiKey(account);
    await caller.get('/operator/v1/accounts');

    const queries = vi.spyOn(pg.Client.prototype, 'query').mockClear();
    for (let i = 0; i < 3; i += 1) await caller.get(`/operator/v1/accounts/${account.id}`);
    await caller.get('/operator/v1/accounts/unknown');
    await caller.get(`/operator/v1/teams/${team.id}`);
    await caller.get(`/operator/v1/teams/${team.id}/members`);
    await caller.get(`/operator/v1/teams/${team.id}/subscription`);
    await caller.get(`/operator/v1/accounts/${account.id}/api-keys`);
    await caller.get(`/operator/v1/teams/${team.id}/api-keys`);
    await caller.get(`/operator/v1/api-keys/${personalKey.id}`);
    await caller.get('/operator/v1/events');
    await caller.get('/operator/v1/operator-keys');
    await caller.post('/operator/v1/credentials/verify', { credential: personalKey.secret });
    await caller.post('/trpc/operatorApi.verifyCredential', { credential: 'unknown' });
    await api.anonymous.send({
      method: 'POST',
      path: '/oauth/introspect',
      headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: queryOf({ token: personalKey.secret }),
    });
    const texts = queries.mock.calls.map(([query]: unknown[]) => (query as { text: string }).text);
    expect(texts.filter((text) => /^\s*(insert|update|delete)/i.test(text))).toEqual([]);
    queries.mockRestore();

    await api.operatorReads.flush();
    expect(await countsOf(api, key)).toEqual([
      ['operator.account_viewed', account.id, 5],
      ['operator.team_viewed', team.id, 4],
      ['operator_key.used', 'getAccount', 4],
      ['operator_key.used', 'getApiKey', 1],
      ['operator_key.used', 'getSubscription', 1],
      ['operator_key.used', 'getTeam', 1],
      ['operator_key.used', 'introspect', 1],
      ['operator_key.used', 'listAccountApiKeys', 1],
      ['operator_key.used', 'listAccounts', 1],
      ['operator_key.used', 'listEvents', 1],
      ['operator_key.used', 'listMembers', 1],
      ['operator_key.used', 'listOperatorKeys', 1],
      ['operator_key.used', 'listTeamApiKeys', 1],
      ['operator_key.used', 'verifyCredential', 2],
    ]);
    const [first] = await readsOf(api, key);
    expect(first).toMatchObject({ actor_kind: 'operator_key', actor_id: null, address: '127.0.0.1' });
    expect(first?.details).toMatchObject({ since: expect.any(String), until: expect.any(String) });
    expect(first?.request_id).not.toBeNull();
  });

  test('are shown to the operator by account, team and key, and not to the team', async () => {
    const api = await aService();
    const key = await api.anOperatorKey();
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    await api.as(key).get(`/operator/v1/accounts/${owner.id}`);
    await api.as(key).get(`/operator/v1/teams/${team.id}`);
    await api.operatorReads.flush();

    const { operator } = await as(api, await anOperator(api));
    const listed = async (filters: Parameters<typeof operator.audit.query>[0]) =>
      (await operator.audit.query(filters)).events
        .filter(({ actor }) => actor.kind === 'operator_key')
        .map(({ event, credential, count }) => [event, credential?.id, count]);
    expect(await listed({ accountId: owner.id })).toEqual([['operator.account_viewed', key.id, 1]]);
    expect(await listed({ teamId: team.id })).toEqual([['operator.team_viewed', key.id, 1]]);
    expect(await listed({ keyId: key.id })).toHaveLength(4);
    expect(await listed({ event: 'operator_key.used', keyId: key.id })).toHaveLength(2);
    const { events } = await (await as(api, owner)).audit.list.query({ teamId: team.id });
    expect(events.map(({ event }) => event)).not.toContain('operator.team_viewed');
  });

  test('that are denied are not counted as reads, and changes are events of their own', async () => {
    const api = await aService();
    const key = await api.anOperatorKey({ scopes: ['accounts:write'] });
    const account = await api.anAccount();
    expect((await api.as(key).get('/operator/v1/accounts')).status).toBe(403);
    expect((await api.as(key).post(`/operator/v1/accounts/${account.id}/disable`)).status).toBe(200);
    await api.operatorReads.flush();
    expect(await countsOf(api, key)).toEqual([]);
  });

  test('are counted for an hour after they were written, and are complete when the service stops', async () => {
    const api = await aService();
    const { id: credentialId } = await api.anOperatorKey();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: new Date(ONCE) });
    onTestFinished(() => void vi.useRealTimers());
    const reads = createOperatorReadLog(api.services.db, (error) => expect.fail(String(error)));
    const read = { credentialId, address: '192.0.2.1', of: { operation: 'listTeams' } };
    const counts = async () => (await countsOf(api, { id: credentialId })).map(([, , count]) => count);
    const minutes = (count: number) => vi.advanceTimersByTimeAsync(60_000 * count);

    reads.note(read, idsOf('a-request'));
    await minutes(1);
    await expect.poll(counts).toEqual([1]);
    for (let i = 0; i < 5; i += 1) {
      reads.note(read, idsOf('another'));
      await minutes(10);
    }
    expect(await counts()).toEqual([1]);
    await minutes(10);
    await expect.poll(counts).toEqual([1, 5]);
    reads.note(read, idsOf('the-last'));
    await reads.close();
    expect(await counts()).toEqual([1, 5, 1]);
    const [, five] = await readsOf(api, { id: credentialId });
    expect(five?.details).toEqual({
      operation: 'listTeams',
      since: '2026-11-22T10:01:00.000Z',
      until: '2026-11-22T10:41:00.000Z',
    });
    expect(five?.request_id).toBe('another');
  });

  test('that could not be written are written with the next batch, with the same numbers', async () => {
    const api = await aService();
    const { id: credentialId } = await api.anOperatorKey();
    const errors: unknown[] = [];
    const reads = createOperatorReadLog(api.services.db, (error) => errors.push(error));
    onTestFinished(() => reads.close());
    const read = { credentialId, address: '192.0.2.1', of: { operation: 'listTeams' } };
    reads.note(read, idsOf('a-request'));
    reads.note(read, idsOf('a-request'));
    const run = vi.spyOn(api.services.db, 'run').mockRejectedValueOnce(new Error('the database is away'));
    await reads.flush();
    run.mockRestore();
    expect(errors).toHaveLength(1);
    reads.note(read, idsOf('a-request'));
    await reads.flush();
    expect(await countsOf(api, { id: credentialId })).toEqual([['operator_key.used', 'listTeams', 3]]);
  });

  test('of more accounts than memory is kept for are counted by operation, also from any number of addresses', async () => {
    const api = await aService();
    const { id: credentialId } = await api.anOperatorKey();
    const reads = createOperatorReadLog(api.services.db, (error) => expect.fail(String(error)), 50);
    for (let i = 0; i < 60; i += 1)
      reads.note({ credentialId, address: '::1', of: { accountId: `acc_${i}` } }, idsOf('r'));
    for (let i = 0; i < 30; i += 1)
      reads.note({ credentialId, address: `192.0.2.${i}`, of: { operation: 'getAccount' } }, idsOf('r'));
    await reads.close();
    const rows = await readsOf(api, { id: credentialId });
    expect(rows).toHaveLength(51);
    expect(rows.filter(({ event }) => event === 'operator_key.used')).toMatchObject([
      { count: 30, address: null, details: { operation: 'getAccount' } },
    ]);
  });
});
