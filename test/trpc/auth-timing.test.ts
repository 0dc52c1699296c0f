import { expect, test } from 'vitest';
import { aPerson, aService, anAddress, OTHER_PASSWORD } from './people.ts';

test('the time of sign-in, sign-up and forgot does not reveal whether an account exists', async () => {
  // Alternately, because other work of the machine slows both down.
  const api = await aService({ SIGN_IN_LIMIT: '1000' });
  const { email } = await aPerson(api);
  const { trpc } = api.visitor();
  const calls = {
    signIn: (address: string) =>
      trpc.auth.signIn.mutate({ email: address, password: OTHER_PASSWORD }).catch(() => undefined),
    signUp: (address: string) => trpc.auth.signUp.mutate({ email: address, password: OTHER_PASSWORD }),
    forgot: (address: string) => trpc.auth.forgotPassword.mutate({ email: address }),
  };
  for (const call of Object.values(calls)) {
    const times = { known: [] as number[], unknown: [] as number[] };
    await call(anAddress());
    for (let round = 0; round < 9; round += 1) {
      times.known.push(await msOf(() => call(email)));
      times.unknown.push(await msOf(() => call(anAddress())));
    }
    const ratio = median(times.known) / median(times.unknown);
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  }
});

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
