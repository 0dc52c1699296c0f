import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PASSWORD_COST } from '../../src/config/password-cost.ts';
import { claimHashesBy } from '../../src/crypto/argon2.ts';
import { BACKGROUND } from '../../src/turns.ts';
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

  // Guarantees that passwords take no core from requests, where threads have priorities.
  test.skipIf(process.platform !== 'linux')('runs in threads with a low priority, one for each slot', async () => {
    await Promise.all(Array.from({ length: 10 }, () => verifyPassword('a password 42', null)));

    const lowered = readNiceness().filter((niceness) => niceness === 10);
    expect(lowered.length).toBeGreaterThan(0);
    expect(lowered.length).toBeLessThanOrEqual(4);
  });

  // Guarantees that a flood of sign-ins neither fills the memory nor keeps every later one waiting.
  test('waits for a bounded number of others, and fails beyond it', async () => {
    const caller = { over: new AbortController().signal };
    claimHashesBy(() => ({ keys: ['192.0.2.1'], caller }));
    onTestFinished(() => claimHashesBy(() => ({ keys: [BACKGROUND], caller: undefined })));
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
