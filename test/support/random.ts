import { randomInt } from 'node:crypto';
import { onTestFailed } from 'vitest';

/** Returns a whole number from 0 to below `max`. */
export type Random = (max: number) => number;

/**
 * Creates streams of random numbers for a test, one for each of its actors, so that what one of them does changes
 * nothing for the others. A test that fails prints its seed, which the environment variable SEED repeats.
 */
export function seededRandom(): (actor: string) => Random {
  const seed = process.env['SEED'] ?? String(randomInt(2 ** 32));
  onTestFailed(({ task }) => void process.stderr.write(`SEED=${seed} repeats the choices of “${task.name}”.\n`));
  return (actor) => {
    let state = hash(`${seed} ${actor}`);
    return (max) => {
      state = Math.trunc(state + 0x6d2b79f5);
      return Math.floor((mix(state) / 2 ** 32) * max);
    };
  };
}

/** FNV-1a. */
const hash = (text: string): number =>
  Buffer.from(text).reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193), 0x811c9dc5 | 0);

/** The output of mulberry32. */
function mix(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}
