import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  hashPassword,
  MIN_COST,
  needsRehash,
  planVerification,
  verifyPassword,
} from '../../src/crypto/password-hash.ts';

const { memoryKib } = MIN_COST;
const work = (storedHash: string | null, passes: number): number => {
  const plan = planVerification(storedHash, { memoryKib, passes });
  return plan.memoryKib * plan.passes + memoryKib * plan.passesOfDummy;
};

describe('verifying a password', () => {
  // Guarantees that the time of a sign-in reveals neither whether an account exists nor how old its hash is.
  test('takes the same work without a hash, and with one of the present or an older cost', async () => {
    const [older, present] = await Promise.all([
      hashPassword('a password 42', { memoryKib, passes: 2 }),
      hashPassword('a password 42', { memoryKib, passes: 4 }),
    ]);

    expect([work(null, 4), work(older, 4), work(present, 4)]).toEqual([4 * memoryKib, 4 * memoryKib, 4 * memoryKib]);
    expect([needsRehash(older, { memoryKib, passes: 4 }), needsRehash(present, { memoryKib, passes: 4 })]).toEqual([
      true,
      false,
    ]);
  });

  test('takes the same work after the cost was lowered', async () => {
    const dearer = await hashPassword('a password 42', { memoryKib, passes: 5 });
    const present = await hashPassword('a password 42', { memoryKib, passes: 3 });

    expect(work(dearer, 3)).toBe(5 * memoryKib);
    expect([work(present, 3), work(null, 3)]).toEqual([5 * memoryKib, 5 * memoryKib]);
  });

  test('accepts only the right password, whatever the cost', async () => {
    const hash = await hashPassword('a password 42', { memoryKib, passes: 3 });

    expect(await verifyPassword('a password 42', hash)).toBe(true);
    expect(await verifyPassword('a password 43', hash)).toBe(false);
    expect(await verifyPassword('a password 42', null)).toBe(false);
  });

  // Guarantees that passwords take no core from requests, where threads have priorities.
  test.skipIf(process.platform !== 'linux')('runs in threads with a low priority, one for each slot', async () => {
    await Promise.all(Array.from({ length: 10 }, () => verifyPassword('a password 42', null)));

    const lowered = readNiceness().filter((niceness) => niceness === 10);
    expect(lowered.length).toBeGreaterThan(0);
    expect(lowered.length).toBeLessThanOrEqual(4);
  });

  // Guarantees that a flood of sign-ins neither fills the memory nor keeps every later one waiting.
  test('waits for a bounded number of others, and fails beyond it', async () => {
    const calls = await Promise.allSettled(Array.from({ length: 1000 }, () => verifyPassword('a password 42', null)));

    const refused = calls.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(1000);
    expect(new Set(refused.map(({ reason }) => (reason as { problem?: string }).problem))).toEqual(
      new Set(['service_unavailable']),
    );
    expect(await verifyPassword('a password 42', null)).toBe(false);
  });
});

/** Returns the niceness of each thread of this process. */
const readNiceness = (): number[] =>
  readdirSync('/proc/self/task').map((id) => {
    const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
