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
});
