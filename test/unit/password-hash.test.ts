import { describe, expect, test } from 'vitest';
import { PASSWORD_COST } from '../../src/config/password-cost.ts';
import { hashPassword, MIN_COST, needsRehash, readVerifiable, verifyPassword } from '../../src/crypto/password-hash.ts';

const { memoryKib } = MIN_COST;

describe('verifying a password', () => {
  test('has a hash of another cost replaced', async () => {
    const older = await hashPassword('a password 42', { memoryKib, passes: 2 });

    expect(needsRehash(older, { memoryKib, passes: 3 })).toBe(true);
    expect(needsRehash(older, { memoryKib, passes: 2 })).toBe(false);
    expect(needsRehash(older.replace('p=1$', 'p=4$'), { memoryKib, passes: 2 })).toBe(true);
  });

  test('accepts only the right password, whatever the cost', async () => {
    const hash = await hashPassword('a password 42', { memoryKib, passes: 3 });

    expect(await verifyPassword('a password 42', hash)).toBe(true);
    expect(await verifyPassword('a password 43', hash)).toBe(false);
    expect(await verifyPassword('a password 42', null)).toBe(false);
  });

  // Guarantees that no stored hash takes the turns of others, whatever it looks like.
  test('takes a cost beyond the bounds of imports only where the operator can have set it', () => {
    const hashOf = (m: number, t: number, p = 1) => `$argon2id$v=19$m=${m},t=${t},p=${p}$c2FsdHNhbHQ$${'A'.repeat(43)}`;
    const { memoryKib: memory, passes } = PASSWORD_COST;

    for (const [m, t] of [
      [memory.min, passes.min],
      [memory.max, passes.max],
      [memory.min, 100],
      [8, 1],
      [8, 256],
    ] as const)
      expect([m, t, readVerifiable(hashOf(m, t))?.work]).toEqual([m, t, m * t]);
    for (const [m, t, p] of [
      [8, 131_072, 1],
      [8, 257, 1],
      [memory.min, passes.max + 1, 1],
      [memory.max, 1, 1],
      [memory.max + 1, passes.min, 1],
      [memory.min, passes.max, 4],
    ] as const)
      expect([m, t, p, readVerifiable(hashOf(m, t, p))]).toEqual([m, t, p, null]);
  });
});
