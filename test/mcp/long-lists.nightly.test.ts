import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';
import { connect, ERAS } from './clients.ts';

describe.each(ERAS)('a client of %s', (era) => {
  test('gets a long list in pages', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    for (let i = 0; i < 60; i += 1) await api.aMember(team, await api.anAccount(), { role: 'guest' });
    const client = await connect(api, era, (await api.anApiKey(account, { scopes: ['members:read'] })).secret);
    const page = async (offset?: number) =>
      (await client.callTool({ name: 'listTeamMembers', arguments: { teamId: team.id, ...(offset && { offset }) } }))
        .structuredContent as { items: { userId: string }[]; total: number; nextOffset: number | null };

    const [first, second] = [await page(), await page(50)];
    expect([first.items.length, first.total, first.nextOffset]).toEqual([50, 61, 50]);
    expect([second.items.length, second.total, second.nextOffset]).toEqual([11, 61, null]);
    expect(new Set([...first.items, ...second.items].map(({ userId }) => userId)).size).toBe(61);
  });

  test('gets each entry of a list of hundreds once', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    await api.rows(
      `with person as (
         insert into account (id, email, created_at, updated_at)
         select format('acc_%s_%s', $1::text, n), format('%s-%s@example.com', $1::text, n), now(), now()
         from generate_series(1, 310) n returning id)
       insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
       select 'mem_' || id, $1, id, 'member', now(), now() from person`,
      [team.id],
    );
    const client = await connect(api, era, (await api.anApiKey(account, { scopes: ['members:read'] })).secret);
    const userIds = new Set<string>();

    for (let offset: number | null = 0; offset !== null;) {
      const { structuredContent } = await client.callTool({
        name: 'listTeamMembers',
        arguments: { teamId: team.id, ...(offset > 0 && { offset }) },
      });
      const page = structuredContent as { items: { userId: string }[]; total: number; nextOffset: number | null };
      expect(page.total).toBe(311);
      for (const { userId } of page.items) userIds.add(userId);
      offset = page.nextOffset;
    }

    expect(userIds.size).toBe(311);
  });
});
