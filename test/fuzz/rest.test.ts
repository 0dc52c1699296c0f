import fc from 'fast-check';
import { describe as suite, expect } from 'vitest';
import { OPERATIONS } from '../rest/operations.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { createClient, type Caller } from '../support/client.ts';
import { contractOf } from '../support/contract.ts';
import { describe, type Description } from './document.ts';
import { draftsOf, written, type Draft } from './requests.ts';
import { purposesOf } from './purpose.ts';
import { check, isRepetition } from './setting.ts';
import { faultOf } from './verdict.ts';
import { createWorld, type World } from './world.ts';

const RUNS = 300;
/** Sent side by side; 4.5 on average. */
const TOGETHER_MAX = 8;

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

suite.for(OPERATIONS.map(({ id }) => id))('%s', (id) => {
  test('answers every request as the OpenAPI document describes', async ({
    fuzzed: { description, world, client },
  }) => {
    const operation = description.operations.get(id);
    if (operation === undefined) throw new Error('The document does not have it.');

    const exchange = async (draft: Draft): Promise<number> => {
      const request = written(operation, draft, world);
      const answer = await client.send(request);
      const fault = faultOf(operation, draft, request, answer, world);
      if (fault !== undefined) {
        throw new Error(
          `${request.method} ${request.path} → ${answer.status}: ${fault}\n${answer.text.slice(0, 1000)}`,
        );
      }
      if (draft.method === operation.method) await world.goOn(id, request.named, answer);
      return answer.status;
    };

    // Guarantees that requests get through to what the operation does, and are denied at every step on the way.
    if (!isRepetition) {
      for (const { status, draft } of purposesOf(operation)) {
        await world.renew();
        expect(await exchange(draft), JSON.stringify(draft)).toBe(status);
      }
    }

    const drafts = fc.array(draftsOf(operation, description), { minLength: 1, maxLength: TOGETHER_MAX, size: 'max' });
    await check(
      fc.asyncProperty(drafts, async (together) => void (await Promise.all(together.map(exchange)))),
      RUNS,
    );
  });
});
