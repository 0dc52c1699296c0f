import { expect } from 'vitest';
import { connect, ERAS } from '../mcp/clients.ts';
import { test, type Api } from '../support/api.ts';

/** So many that a list is read in parts the next time. */
const LONG = 250;

async function setTeams(api: Api, accountId: string, count: number): Promise<void> {
  await api.rows('delete from membership where account_id = $1', [accountId]);
  await api.rows(
    `insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
     select format('mem_%s_%s', id, $1::text), id, $1, 'member', now(), now()
     from team where id like 'team_shrinking-%' order by id limit $2::int`,
    [accountId, count],
  );
}

const namesOf = (count: number) => Array.from({ length: count }, (_, n) => `team_shrinking-${1000 + n}`);
const idsOf = (teams: unknown) => (teams as { id: string }[]).map(({ id }) => id);

test('a list that was long is whole and in order when it is short or empty, on every interface', async ({ api }) => {
  await api.rows(
    `insert into team (id, name, slug, created_at, updated_at)
     select 'team_shrinking-' || n, 'Shrinking', 'shrinking-' || n, now(), now() from generate_series(1000, 1000 + $1::int) n`,
    [LONG],
  );
  const account = await api.anAccount();
  const { secret } = await api.anApiKey(account, { scopes: ['teams:read'] });
  const url = `http://127.0.0.1:${api.port}`;
  const json = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${secret}`, ...headers } });
    return (await answer.json()) as never;
  };
  const client = await connect(api, ERAS[0], secret);
  type Answer = { result: { data: unknown } };
  const interfaces = {
    REST: async () => idsOf(await json('/api/v1/teams', { 'accept-encoding': 'identity' })),
    gzip: async () => idsOf(await json('/api/v1/teams', { 'accept-encoding': 'gzip' })),
    tRPC: async () => idsOf(((await json('/trpc/listTeams')) as Answer).result.data),
    batch: async () => {
      const [, teams] = (await json('/trpc/unknown,listTeams,listTeams?batch=1')) as Answer[];
      return idsOf(teams?.result.data);
    },
    MCP: async () => {
      const { structuredContent } = await client.callTool({ name: 'listTeams' });
      const { items, total } = structuredContent as { items: { id: string }[]; total: number };
      // The first page, and as many more as it says.
      return [...idsOf(items), ...namesOf(total).slice(items.length)];
    },
  };

  for (const [name, list] of Object.entries(interfaces))
    for (const count of [0, 1, 99, 100, 101, 200, 201]) {
      await setTeams(api, account.id, LONG);
      await json('/api/v1/teams');
      await setTeams(api, account.id, count);

      expect([name, count, await list()]).toEqual([name, count, namesOf(count)]);
    }
});
