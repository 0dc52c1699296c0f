import { describe, expect } from 'vitest';
import { startApi, testWith, type Api } from '../support/api.ts';
import { aCaller, INPUTS, send, WITH_ADDRESS, type Caller } from '../trpc/address-procedures.ts';
import { anAddress, aPerson } from '../trpc/people.ts';
import { rankDifference } from './rank-test.ts';

const BATCH = 20;
/** With so many on each side, times that never overlap are 8.6 standard deviations apart. */
const ROUNDS = 50;
/** Three times for each procedure. By chance, one in a run of all is beyond this rarer than once in a million runs. */
const DEVIATIONS_MAX = 5.6;
const SECOND_MS = 1000;

const test = testWith(() =>
  startApi({
    SIGN_IN_LIMIT: '1000000',
    LINK_MAILS_PER_HOUR: '1000000',
    MAILS_PER_DAY_FROM_TEAM: '1000000',
    MAILS_PER_DAY: '1000000',
  }),
);

type Times = readonly [batch: number, parallel: number, later: number];

/** Measures a batch, parallel calls, and how many other requests the second after has room for. */
async function observe(api: Api, path: string, email: string, caller: Caller): Promise<Times> {
  const visitor = () => (path.startsWith('auth.') ? api.visitor() : caller.visitor);
  const inputs = Array.from({ length: BATCH }, () => INPUTS[path]?.(email, caller) ?? {});
  const timed = async (call: () => Promise<unknown>) => {
    const begun = performance.now();
    await call();
    return performance.now() - begun;
  };
  const batch = await timed(() => send(api, path, visitor(), inputs));
  const parallel = await timed(() => Promise.all(inputs.map((input) => send(api, path, visitor(), [input]))));
  let later = 0;
  for (const end = performance.now() + SECOND_MS; performance.now() < end; later += 1)
    await api.anonymous.get('/readyz');
  await api.rows('delete from invitation');
  return [batch, parallel, later];
}

test('the ranks find a difference that most rounds have, and none that one round has', () => {
  const times = Array.from({ length: ROUNDS }, (_, i) => (i * 37) % 100);
  const slower = times.map((time) => time + 50);
  const oneSlower = times.with(3, 10_000);

  expect(rankDifference(slower, times)).toBeGreaterThan(DEVIATIONS_MAX);
  expect(rankDifference(times, slower)).toBeLessThan(-DEVIATIONS_MAX);
  expect(Math.abs(rankDifference(oneSlower, times))).toBeLessThan(1);
});

// Guarantees that time does not tell whether an address has an account, nor the work that is left for later. Which work
// is done is compared by `test/trpc/unknown-addresses.test.ts`; this finds what that cannot see.
describe.each(WITH_ADDRESS)('%s', (path) => {
  test('takes as long for an address with an account as for one without', { timeout: 1_800_000 }, async ({ api }) => {
    const caller = await aCaller(api);
    // The worker of the jobs starts, connections open, and modules load.
    const { email: warm } = await aPerson(api);
    await api.visitor().trpc.auth.forgotPassword.mutate({ email: warm });
    await api.mailTo(warm);
    await observe(api, path, anAddress(), caller);
    const [known, unknown]: [Times[], Times[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { email } = await aPerson(api);
      const sides = [
        async () => known.push(await observe(api, path, email, caller)),
        async () => unknown.push(await observe(api, path, anAddress(), caller)),
      ];
      // In turns, so that what slows the machine down in between slows both down.
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) await side();
    }

    const deviations = ['batch', 'parallel', 'later'].map((what, i) => {
      const of = (times: readonly Times[]) => times.map((one) => one[i] ?? 0);
      return [what, rankDifference(of(known), of(unknown))] as const;
    });
    expect(deviations.filter(([, deviation]) => Math.abs(deviation) > DEVIATIONS_MAX)).toEqual([]);
  });
});
