import { describe, expect, onTestFinished, vi } from 'vitest';
import { emitNumbered } from '../../src/events/wake.ts';
import { numberEvents } from '../webhooks/receiver.ts';
import { test, type Api } from '../support/api.ts';
import { waitForEvents } from '../../src/resources/events/wait.ts';
import { outcomeOf } from '../trpc/console.ts';
import { aScene } from './mutations.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const LONG = 20;
const BOUND = { timeout: PATIENCE_MS };

async function aFeed(api: Api) {
  const { owner, team } = await aScene(api);
  const { trpc } = owner.visitor;
  const read = vi.spyOn(api.services.db, 'query');
  let renames = 0;
  return {
    trpc,
    teamId: team.id,
    /** The number of looks at the feed of a team. */
    looks: () => read.mock.calls.filter(([{ name }]) => name === 'event_payload_list_of_team').length,
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
    await vi.waitFor(() => expect(looks()).toBeGreaterThanOrEqual(before + 3), BOUND);

    // One more is answered at once, while the others go on waiting.
    expect((await trpc.events.list.query({ teamId, after, wait: LONG })).events).toEqual([]);
    expect(await Promise.race([...calls.map(({ state }) => state), Promise.resolve('waiting')])).toBe('waiting');

    for (const { client } of calls) client.abort();
    expect(await Promise.all(calls.map(({ state }) => state))).toEqual(['aborted', 'aborted', 'aborted']);
    // Their places are free as soon as the service has noticed: the next call waits, and so gets what happens after.
    await vi.waitFor(async () => {
      const cursor = await end();
      const seen = looks();
      const call = trpc.events.list.query({ teamId, after: cursor, wait: LONG });
      await vi.waitFor(() => expect(looks()).toBeGreaterThan(seen), BOUND);
      await happen();
      expect((await call).events).toMatchObject([{ type: 'team.renamed' }]);
    }, BOUND);
  });

  test.for([
    [
      'whose session was ended',
      'events.listMine',
      'credential_invalid',
      `update session set revoked_at = now() where account_id = $1`,
    ],
    [
      'whose account was disabled',
      'events.listMine',
      'credential_invalid',
      `update account set disabled_at = now() where id = $1`,
    ],
    [
      'whose session was ended, of a team',
      'events.list',
      'credential_invalid',
      `update session set revoked_at = now() where account_id = $1`,
    ],
    [
      'who left the team',
      'events.list',
      'team_not_found',
      `update membership set is_active = false where account_id = $1`,
    ],
    [
      'who is no operator any longer',
      'events.listAll',
      'route_not_found',
      `update account set role = 'user' where id = $1`,
    ],
  ] as const)('get nothing for somebody %s meanwhile', async ([, procedure, code, change], { api }) => {
    const { owner, team } = await aScene(api);
    await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
    const { events } = owner.visitor.trpc;
    const read = (after?: string, wait = 0) =>
      procedure === 'events.list'
        ? events.list.query({ teamId: team.id, after, wait, limit: 100 })
        : procedure === 'events.listMine'
          ? events.listMine.query({ after, wait, limit: 100 })
          : events.listAll.query({ after, wait, limit: 100 });
    await numberEvents(api);
    let page = await read();
    while (page.hasMore) page = await read(page.cursor);
    const looks = vi.spyOn(api.services.db, 'query');

    const outcome = outcomeOf(read(page.cursor, LONG));
    await vi.waitFor(
      () => expect(looks.mock.calls.some(([{ name }]) => name.startsWith('event_payload_list_of_'))).toBe(true),
      BOUND,
    );
    await api.rows(change, [owner.id]);
    await numberEvents(api);

    expect(await outcome).toBe(code);
    looks.mockRestore();
  });

  test('are answered with what is numbered while they look', async ({ api }) => {
    const { db } = api.services;
    // Nothing but an event wakes them: no time passes.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let looks = 0;

    const page = await waitForEvents({
      db,
      caller: 'a caller',
      seconds: LONG,
      signal: undefined,
      read: async () => {
        looks += 1;
        if (looks > 1) return 'an event';
        emitNumbered(db); // after the look began, and before it ends
        return 'nothing';
      },
      isEmpty: (found) => found === 'nothing',
    });

    expect([page, looks]).toEqual(['an event', 2]);
  });

  test('are 500 of all callers; of a thousand the others are answered at once, and all end when they hang up', async ({
    api,
  }) => {
    const { db } = api.services;
    const hangUp = new AbortController();
    const call = (caller: number) =>
      waitForEvents({
        db,
        caller: `caller ${caller}`,
        seconds: LONG,
        signal: hangUp.signal,
        read: () => Promise.resolve('nothing'),
        isEmpty: () => true,
      });
    let answered = 0;
    const calls = Array.from({ length: 1000 }, (_, i) => call(i).then(() => (answered += 1)));
    await vi.waitFor(() => expect(answered).toBe(500), BOUND);

    hangUp.abort();
    await Promise.all(calls);
    expect(answered).toBe(1000);
  });
});
