import { availableParallelism } from 'node:os';
import { ProblemError } from '../errors.ts';
import { computeHash } from './hash-threads.ts';

/**
 * How many hashes are computed at once. Leaves a core to requests. Each takes at least 19 MiB, and a container sees all
 * cores of its machine.
 */
export const HASHES_MAX = Math.max(1, Math.min(availableParallelism() - 1, 4));

type Parameters = {
  readonly salt: Buffer;
  readonly memoryKib: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly tagLength: number;
};

/** Computes one Argon2id tag. Call it inside {@link withHashSlot}. */
export const deriveTag = (password: string, { salt, memoryKib, ...rest }: Parameters): Promise<Buffer> =>
  computeHash('argon2', 'argon2id', { message: password, nonce: salt, memory: memoryKib, ...rest });

/** Runs work in its turn. `isShared`: its result is used by others than the present caller, too. */
type HashQueue = <Result>(work: () => Promise<Result>, isShared: boolean) => Promise<Result>;

/** About a second of work per core at the default cost. Later calls fail fast. */
const WAITING_MAX = 20 * HASHES_MAX;
const RETRY_AFTER_SECONDS = 2;

let running = 0;
const waiting: (() => void)[] = [];

/** The queue of commands and jobs: in order. */
let runInTurn: HashQueue = async (work) => {
  if (running >= HASHES_MAX) {
    if (waiting.length >= WAITING_MAX) throw tooManyChecks();
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
};

export const tooManyChecks = (): ProblemError =>
  new ProblemError('service_unavailable', 'Too many concurrent password checks.', { retryAfter: RETRY_AFTER_SECONDS });

/** Sets the queue for computing hashes in this process. */
export function useHashQueue(queue: HashQueue): void {
  runInTurn = queue;
}

/**
 * Runs work that computes hashes, with few concurrent calls. More would take the cores, threads and memory that other
 * requests need.
 * @throws service_unavailable (503) if too many calls of the client wait, or for too long
 */
export const withHashSlot = <Result>(work: () => Promise<Result>, { isShared = false } = {}): Promise<Result> =>
  runInTurn(work, isShared);
