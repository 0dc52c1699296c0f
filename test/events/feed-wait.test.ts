import { describe, expect, vi } from 'vitest';
import { numberEvents } from '../webhooks/receiver.ts';
import { test, type Api } from '../support/api.ts';
import { aScene } from './mutations.ts';

const LONG = 20;

async function aFeed(api: Api) {
  const { owner, team } = await aScene(api);
  const { trpc } = owner.visitor;
  const read = vi.spyOn(api.services.db, 'query');
  let renames = 0;
  return {
    trpc,
    teamId: team.id,
    /** The number of looks at the feed of a team. */
    looks: () => read.mock.calls.filter(([{ name }]) => name === 'feed_of_team').length,
    /** The end of the feed. */
    end: async () => {
      await numberEvents(api);
      return (await trpc.events.list.query({ teamId: team.id, limit: 100 })).cursor;
    },
    happen: async () => {
      await trpc.updateTeam.mutate({ teamId: team.id, name: `Name ${(renames += 1)}` });
      await numberEvents(api);
    },
  };
}

describe('calls that wait for events', () => {
  test('are at most three of a caller, and end when their client hangs up', async ({ api }) => {
    const { trpc, teamId, looks, end, happen } = await aFeed(api);
    const after = await end();
    const before = looks();
    const calls = Array.from({ length: 3 }, () => {
      const client = new AbortController();
      const answers = trpc.events.list.query({ teamId, after, wait: LONG }, { signal: client.signal });
      return { client, state: answers.then(() => 'answered').catch(() => 'aborted') };
    });
    await vi.waitFor(() => expect(looks()).toBeGreaterThanOrEqual(before + 3));

    // One more is answered at once, while the others go on waiting.
    expect((await trpc.events.list.query({ teamId, after, wait: LONG })).events).toEqual([]);
    expect(await Promise.race([...calls.map(({ state }) => state), Promise.resolve('waiting')])).toBe('waiting');

    for (const { client } of calls) client.abort();
    expect(await Promise.all(calls.map(({ state }) => state))).toEqual(['aborted', 'aborted', 'aborted']);
    // Their places are free as soon as the service has noticed: the next call waits, and so gets what happens after.
    await vi.waitFor(
      async () => {
        const cursor = await end();
        const seen = looks();
        const call = trpc.events.list.query({ teamId, after: cursor, wait: LONG });
        await vi.waitFor(() => expect(looks()).toBeGreaterThan(seen));
        await happen();
        expect((await call).events).toMatchObject([{ type: 'team.renamed' }]);
      },
      { timeout: 10_000 },
    );
  });
});
