import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { as, outcomeOf } from './console.ts';

const today = () => new Date().toISOString().slice(0, 10);

/** Makes requests with a key, and writes their use. */
async function use(api: Api, key: { secret: string }, times: number): Promise<void> {
  for (let made = 0; made < times; made += 1) await api.as(key).get('/api/v1/credential');
  await api.usage.flush();
}

describe('the requests of an API key', () => {
  test('are counted by day with the last address, over batches, and deleted with the key', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account);
    const trpc = await as(api, account);
    const input = { keyId: key.id };
    expect(await trpc.apiKeys.usage.query(input)).toEqual({ days: [], lastAddress: null });
    await use(api, key, 3);
    await use(api, key, 2);
    await api.rows(
      `insert into api_key_use (api_key_id, day, requests, address)
       values ($1, current_date - 89, 7, '192.0.2.1'), ($1, current_date - 90, 9, null)`,
      [key.id],
    );
    const { days, lastAddress } = await trpc.apiKeys.usage.query(input);
    expect(days.map(({ requests }) => requests)).toEqual([7, 5]);
    expect(days.at(-1)?.day).toBe(today());
    expect(lastAddress).toBe('127.0.0.1');

    await api.rows('delete from api_key where id = $1', [key.id]);
    expect(await api.rows('select from api_key_use where api_key_id = $1', [key.id])).toEqual([]);
    await expect(outcomeOf(trpc.apiKeys.usage.query(input))).resolves.toBe('api_key_not_found');
  });

  test('are not lost by a batch that fails, and a key that is deleted meanwhile loses no other', async ({ api }) => {
    const account = await api.anAccount();
    const [kept, deleted] = [await api.anApiKey(account), await api.anApiKey(account)];
    for (const key of [kept, deleted]) await api.as(key).get('/api/v1/credential');
    await api.rows('alter table api_key_use add constraint no_uses check (false) not valid');
    await api.usage.flush();
    expect(
      api.lines.splice(0).filter(({ msg }) => msg === 'last uses could not be written; they will be tried again'),
    ).toHaveLength(1);
    await api.rows('alter table api_key_use drop constraint no_uses');
    await api.rows('delete from api_key where id = $1', [deleted.id]);
    await use(api, kept, 1);
    expect(await api.rows('select requests from api_key_use where api_key_id = $1', [kept.id])).toEqual([
      { requests: '2' },
    ]);
  });

  test('are seen by the owner of a personal key, and by those who manage the keys of its team', async ({ api }) => {
    const [owner, manager, member] = [await api.anAccount(), await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner });
    await api.aMember(team, manager, { role: (await api.aRole(team, ['manage_api_keys'])).id });
    await api.aMember(team, member);
    const [personal, ofTeam] = [await api.anApiKey(owner), await api.anApiKey(owner, { team })];
    await use(api, ofTeam, 2);
    const usageOf = async (account: { id: string }, key: { id: string }, teamId?: string) =>
      outcomeOf((await as(api, account)).apiKeys.usage.query({ keyId: key.id, teamId }));
    expect(await usageOf(owner, personal)).toBe('done');
    expect(await usageOf(manager, ofTeam, team.id)).toBe('done');
    expect(await usageOf(manager, personal)).toBe('api_key_not_found');
    expect(await usageOf(manager, personal, team.id)).toBe('api_key_not_found');
    expect(await usageOf(owner, ofTeam)).toBe('api_key_not_found');
    expect(await usageOf(member, ofTeam, team.id)).toBe('permission_missing');
    expect(await (await as(api, manager)).apiKeys.usageOfTeam.query({ teamId: team.id })).toEqual([
      { day: today(), requests: 2 },
    ]);
  });
});

test('an API key is renamed by its creator only, and the audit log has the new name', async ({ api }) => {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const key = await api.anApiKey(owner, { team });
  const rename = { keyId: key.id, name: '=Build server' };
  expect(await outcomeOf((await as(api, await api.anAccount())).apiKeys.rename.mutate(rename))).toBe(
    'api_key_not_found',
  );
  const trpc = await as(api, owner);
  expect(await trpc.apiKeys.rename.mutate(rename)).toMatchObject({ id: key.id, name: '=Build server' });
  const { events } = await trpc.audit.list.query({ teamId: team.id, kind: 'api_key' });
  expect(events[0]).toMatchObject({ event: 'api_key.updated', target: { id: key.id, name: '=Build server' } });
});

test('a session shows the minute and the address of its last use', async ({ api }) => {
  const account = await api.anAccount();
  const trpc = await as(api, account);
  await trpc.getMe.query();
  await api.usage.flush();
  const [session] = await trpc.sessions.list.query();
  expect(session).toMatchObject({ isCurrentSession: true, lastAddress: '127.0.0.1' });
  expect(Date.now() - Date.parse(session?.lastUsedAt ?? '')).toBeLessThan(120_000);
});
