import fc from 'fast-check';
import { expect } from 'vitest';
import { numberEvents } from '../../src/events/chain/append.ts';
import type { DeliveredEvent } from '../../src/events/feed/event-schema.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import '../support/random.ts';
import { apply, copyOf, readPrivate, readRoles, readTables, type Copy } from './copy.ts';
import { createTraveller, STEPS } from './journey.ts';
import type { Choice } from './step.ts';

const test = testWith(() => startApi({ SIGN_IN_LIMIT: '1000000', OPERATOR_RATE_LIMIT: '1000000', TEAM_LIMIT: '1000' }));
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const number = async ({ services }: Api) => {
  while ((await numberEvents(services, log)).outcome === 'more');
};

type Operator = Awaited<ReturnType<typeof createTraveller>>['operator'];
type Page = { readonly events: DeliveredEvent[]; readonly cursor: string; readonly hasMore: boolean };

const pageOf = async (operator: Operator, after: string | undefined): Promise<Page> =>
  (await operator.get(`/operator/v1/events?limit=100${after === undefined ? '' : `&after=${after}`}`)).body;

/** Reads the feed to its end and applies it. @returns the cursor to go on with */
async function follow(api: Api, operator: Operator, copy: Copy, from?: string): Promise<string> {
  for (let after = from; ;) {
    const page: Page = await pageOf(operator, after);
    for (const event of page.events) apply(copy, event);
    await readPrivate(api, copy, page.events);
    await readRoles(api, copy, page.events);
    after = page.cursor;
    if (!page.hasMore) return after;
  }
}

const choice: fc.Arbitrary<Choice> = fc.record({
  step: fc.nat({ max: Object.keys(STEPS).length - 1 }),
  a: fc.nat({ max: 20 }),
  b: fc.nat({ max: 20 }),
  c: fc.nat({ max: 11 }),
});

// Guarantees what docs/events.md promises to products that keep a copy.
test('a copy that only reads the feed equals the tables after any journey, also one that began with a snapshot', async ({
  api,
}) => {
  const { go, done, operator } = await createTraveller(api);
  const read = copyOf();
  let cursor: string | undefined;
  const journey = async (choices: readonly Choice[], snapshotAt: number) => {
    let begun: { readonly copy: Copy; readonly after: string } | undefined;
    for (const [i, step] of choices.entries()) {
      if (i !== snapshotAt % choices.length) {
        await go(step);
        continue;
      }
      // Events are numbered at any time after their commit: some of before the snapshot are numbered after it.
      const { cursor: after } = await pageOf(operator, 'now');
      const [copy] = await Promise.all([readTables(api), go(step)]);
      begun = { copy: copyOf(copy), after };
      if (i % 2 === 0) await number(api);
    }
    await number(api);
    cursor = await follow(api, operator, read, cursor);
    if (begun !== undefined) await follow(api, operator, begun.copy, begun.after);
    const tables = await readTables(api);
    expect(read).toEqual(tables);
    expect(begun?.copy ?? tables).toEqual(tables);
  };

  // Each step at least once, in the order of the table, which creates before it changes.
  await journey(
    Object.keys(STEPS).map((_, step) => ({ step, a: step, b: step + 1, c: step })),
    3,
  );
  await fc.assert(fc.asyncProperty(fc.array(choice, { minLength: 10, maxLength: 30 }), fc.nat({ max: 29 }), journey), {
    numRuns: 6,
    endOnFailure: true,
  });
  // Otherwise the journeys would prove little: each step has to take effect.
  const names = Object.keys(STEPS);
  const at = (name: string, a: number, b: number, c: number): Choice => ({ step: names.indexOf(name), a, b, c });
  const arranged = [
    at('operatorApi.createAccount', 0, 0, 1),
    at('operatorApi.createAccount', 0, 0, 1),
    at('operatorApi.createTeam', 0, 0, 0),
    at('roles.create', 0, 0, 0),
    at('operatorApi.addMember', 1, 2, 2),
    at('invitations.create', 3, 3, 0),
  ];
  for (const name of names)
    for (let attempt = 0; attempt < 9 && !done.has(name); attempt += 1)
      // By turns the owner of the newest team, and its member, who may be deleted.
      await journey([...arranged, at(name, attempt % 2, attempt * 3 - (attempt % 2), attempt + 2)], arranged.length);
  expect(names.filter((name) => !done.has(name))).toEqual([]);
}, 240_000);
