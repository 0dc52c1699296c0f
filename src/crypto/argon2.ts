import { availableParallelism } from 'node:os';
import { ProblemError } from '../errors.ts';
import { computeHash } from './hash-threads.ts';

/** Leaves a core to requests. Each takes at least 19 MiB, and a container sees all cores of its machine. */
const CONCURRENCY_MAX = Math.max(1, Math.min(availableParallelism() - 1, 4));

/** About a second of work per core at the default cost. Later calls fail fast. */
const WAITING_MAX = 20 * CONCURRENCY_MAX;
const RETRY_AFTER_SECONDS = 2;

type Parameters = {
  readonly salt: Buffer;
  readonly memoryKib: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly tagLength: number;
};

let running = 0;
const waiting: (() => void)[] = [];

/** Computes one Argon2id tag. Call it inside {@link withHashSlot}. */
export const deriveTag = (password: string, { salt, memoryKib, ...rest }: Parameters): Promise<Buffer> =>
  computeHash('argon2', 'argon2id', { message: password, nonce: salt, memory: memoryKib, ...rest });

/**
 * Runs work that computes hashes, with few concurrent calls. More would take the cores, threads and memory that other
 * requests need.
 * @throws service_unavailable (503) if too many calls wait already
 */
export async function withHashSlot<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= CONCURRENCY_MAX) {
    if (waiting.length >= WAITING_MAX) {
      throw new ProblemError('service_unavailable', 'Too many concurrent password checks.', {
        retryAfter: RETRY_AFTER_SECONDS,
      });
    }
    // The call that frees a slot hands it over, so `running` stays as it is.
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
