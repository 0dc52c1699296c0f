import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { claimHashesBy } from '../../src/crypto/argon2.ts';
import { verifyPassword } from '../../src/crypto/password-hash.ts';
import { BACKGROUND } from '../../src/turns.ts';

describe('verifying a password', () => {
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
