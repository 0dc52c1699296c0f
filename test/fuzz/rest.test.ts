import fc from 'fast-check';
import { describe as suite, expect } from 'vitest';
import { OPERATIONS } from '../rest/operations.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { createClient, type Caller } from '../support/client.ts';
import { contractOf } from '../support/contract.ts';
import { describe, type Description } from './document.ts';
import { draftsOf, written, type Draft } from './requests.ts';
import { isWhole, setting } from './setting.ts';
import { faultOf } from './verdict.ts';
import { createWorld, type World } from './world.ts';

const RUNS = 300;
/** Sent side by side; 4.5 on average. */
const TOGETHER_MAX = 8;
const REQUESTS_MIN = 20_000;

const test = testWith(() => startApi({ TEAM_LIMIT: '1000', KEY_LIMIT: '1000' })).extend<{ fuzzed: Fuzzed }>({
  fuzzed: [async ({ api }, use) => use(await begin(api)), { scope: 'file' }],
});

type Fuzzed = { readonly description: Description; readonly world: World; readonly client: Caller };

async function begin(api: Api): Promise<Fuzzed> {
  const { body: document } = await api.anonymous.get('/api/v1/openapi.json');
  return {
    description: describe(document),
    world: await createWorld(api),
    client: createClient(api.port, contractOf(document)).anonymous,
  };
}

/** How many answers of each status an operation has given. */
const counted = new Map<string, Map<number, number>>();

suite.for(OPERATIONS.map(({ id }) => id))('%s', (id) => {
  test('answers every request as the document says', async ({ fuzzed: { description, world, client } }) => {
    const operation = description.operations.get(id);
    if (operation === undefined) throw new Error('The document does not have it.');

    const statuses = new Map<number, number>();
    counted.set(id, statuses);

    const exchange = async (draft: Draft): Promise<void> => {
      const request = written(operation, draft, world);
      const answer = await client.send(request);
      const fault = faultOf(operation, draft, request, answer, world);
      if (fault !== undefined) {
        throw new Error(
          `${request.method} ${request.path} → ${answer.status}: ${fault}\n${answer.text.slice(0, 1000)}`,
        );
      }
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (draft.method === operation.method) await world.goOn(id, request.named, answer);
    };

    const drafts = fc.array(draftsOf(operation, description), { minLength: 1, maxLength: TOGETHER_MAX, size: 'max' });
    await fc.assert(
      fc.asyncProperty(drafts, async (together) => void (await Promise.all(together.map(exchange)))),
      setting(RUNS),
    );
  });
});

// Guarantees that requests get through to what the operations do, and are refused at every step on the way.
test.runIf(isWhole)('they were many, and of all kinds', () => {
  const answers = [...counted.values()].flatMap((statuses) => [...statuses.values()]);
  expect(answers.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(REQUESTS_MIN);
  const seldom = OPERATIONS.flatMap(({ id, status, path, scope, body }) => {
    const kinds = [
      status,
      401,
      ...(scope ? [403] : []),
      ...(path.includes('{') || body ? [400] : []),
      ...(body ? [413, 415] : []),
    ];
    return kinds.filter((kind) => (counted.get(id)?.get(kind) ?? 0) < 3).map((kind) => `${id} ${kind}`);
  });
  expect(seldom).toEqual([]);
});
