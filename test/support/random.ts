import fc from 'fast-check';

/** Returns a whole number from 0 to below `max`. */
export type Random = (max: number) => number;

/** The same in each run, unless the environment variable SEED says another, as each night. */
export const SEED = process.env['SEED'] ?? '1';

// Of property tests, whose failures print it with the path to the counterexample.
fc.configureGlobal({ seed: hash(SEED) });

/** Creates the random numbers of one actor of a test, so that what others do changes nothing for it. */
export function randomOf(actor: string): Random {
  let state = hash(`${SEED} ${actor}`);
  return (max) => {
    state = Math.trunc(state + 0x6d2b79f5);
    return Math.floor((mix(state) / 2 ** 32) * max);
  };
}

/** Chooses one of some. @throws if there is none */
export function anyOf<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error('there is nothing to choose from');
  return item;
}

/** FNV-1a. */
function hash(text: string): number {
  return Buffer.from(text).reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193), 0x811c9dc5 | 0);
}

/** The output of mulberry32. */
function mix(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}
