import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { as } from '../trpc/console.ts';
import { aTenant } from './tenants.ts';

/** More than are made in one part, and no multiple of that. */
const MEMBERS = 1234;

/** Adds members with names that JSON has to escape. */
const addMembers = (api: Api, teamId: string) =>
  api.rows(
    `with person as (
       insert into account (id, email, first_name, created_at, updated_at)
       select 'acc_long-' || n, format('long-%s@example.com', n), E'"Ada"\\n\\\\ 😀 ' || n, now(), now()
       from generate_series(1, $2::int) n returning id)
     insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
     select 'mem_' || id, $1, id, 'member', now(), now() from person`,
    [teamId, MEMBERS - 1],
  );

type Call = { result?: { data: unknown[] }; error?: { data: { problem: { code: string } } } };

const bytesOf = ({ result }: Call): number => Buffer.byteLength(JSON.stringify(result?.data ?? null));

describe('a list of more than a thousand', () => {
  test('is whole and in order, over REST and over tRPC, first and later', async ({ api }) => {
    const { owner, team, key, path } = await aTenant(api);
    await addMembers(api, team.id);
    const expected = await api.rows<{ id: string; first_name: string }>(
      `select m.id, a.first_name from membership m join account a on a.id = m.account_id
       where team_id = $1 order by m.joined_at, m.id`,
      [team.id],
    );
    const trpc = await as(api, owner);

    for (let time = 0; time < 2; time += 1) {
      const { body, headers, text } = await api.as(key).get(`${path}/members`);
      const listed = await trpc.listTeamMembers.query({ teamId: team.id });

      expect(body.map((member: { membershipId: string }) => member.membershipId)).toEqual(expected.map(({ id }) => id));
      expect(body.at(-1).firstName).toBe(expected.at(-1)?.first_name);
      expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text));
      expect(listed).toEqual(body);
    }
  });

  test('has its place in a batch, beside short answers and errors', async ({ api }) => {
    const { owner, team } = await aTenant(api);
    await api.rows(
      `insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
       select 'mem_batch_' || id, $1, id, 'member', now(), now() from account where id like 'acc_long-%'`,
      [team.id],
    );
    const trpc = await as(api, owner);

    const [long, missing, short, longToo] = await Promise.allSettled([
      trpc.listTeamMembers.query({ teamId: team.id }),
      trpc.listTeamMembers.query({ teamId: 'team_missing' }),
      trpc.listTeams.query(),
      trpc.members.list.query({ teamId: team.id }),
    ]);

    expect(long).toMatchObject({ status: 'fulfilled', value: { length: MEMBERS } });
    expect(missing).toMatchObject({ status: 'rejected', reason: { data: { problem: { code: 'team_not_found' } } } });
    expect(short).toMatchObject({ status: 'fulfilled', value: [{ id: team.id }] });
    expect(longToo).toMatchObject({ status: 'fulfilled', value: { length: MEMBERS } });
  });

  test('is compressed where the client accepts it', async ({ api }) => {
    const { team, key, path } = await aTenant(api);
    await api.rows(
      `insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
       select 'mem_br_' || id, $1, id, 'member', now(), now() from account where id like 'acc_long-%'`,
      [team.id],
    );

    const answer = await fetch(`http://127.0.0.1:${api.port}${path}/members`, {
      headers: { authorization: `Bearer ${key.secret}`, 'accept-encoding': 'br' },
    });

    expect(answer.headers.get('content-encoding')).toBe('br');
    expect(await answer.json()).toHaveLength(MEMBERS);
  });

  // Guarantees that the memory of a request is bounded, whatever it asks for together.
  test('takes 8 MiB beside the longest one of its batch, and short answers their places', async ({ api }) => {
    const { team, key, path } = await aTenant(api);
    await api.rows(
      `insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
       select 'mem_wide_' || id, $1, id, 'member', now(), now() from account where id like 'acc_long-%'`,
      [team.id],
    );
    await api.rows(`update account set first_name = repeat('😀', 255), last_name = repeat('😀', 255)
       where id like 'acc_long-%'`);
    const names = [...Array.from({ length: 19 }, () => 'listTeamMembers'), 'listTeams'];
    const input = JSON.stringify(Object.fromEntries(names.map((_, index) => [index, { teamId: team.id }])));
    const answer = await fetch(
      `http://127.0.0.1:${api.port}/trpc/${names.join(',')}?batch=1&input=${encodeURIComponent(input)}`,
      { headers: { authorization: `Bearer ${key.secret}` } },
    );

    const calls = (await answer.json()) as Call[];
    const longest = Math.max(...calls.map(bytesOf));
    expect(answer.status).toBe(207);
    expect(calls.reduce((sum, call) => sum + bytesOf(call), 0)).toBeLessThan(longest + 8.1 * 2 ** 20);
    expect(calls.filter(({ result }) => result?.data.length === MEMBERS).length).toBeGreaterThan(1);
    expect(new Set(calls.flatMap(({ error }) => error?.data.problem.code ?? []))).toEqual(new Set(['batch_too_large']));
    expect(calls.at(-1)?.result?.data).toHaveLength(1);
    expect((await api.as(key).get(`${path}/members`)).body).toHaveLength(MEMBERS);
  });
});
