import { availableParallelism } from 'node:os';
import { ProblemError } from '../problems/error.ts';
import { SECOND_MS } from '../time.ts';
import { BACKGROUND, CallerGoneError, Turns, type Claim } from '../turns.ts';
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

const QUEUE_PER_ADDRESS = 20;
const WAIT_MS = 10 * SECOND_MS;
const RETRY_AFTER_SECONDS = 2;

const turns = new Turns({
  total: HASHES_MAX,
  perKey: HASHES_MAX,
  queuePerKey: QUEUE_PER_ADDRESS,
  waitMs: WAIT_MS,
  refuse: () =>
    new ProblemError('service_unavailable', 'Too many concurrent password checks.', {
      retryAfter: RETRY_AFTER_SECONDS,
    }),
});

let findClaim = (): Claim => ({ keys: [BACKGROUND], caller: undefined });

/** Sets what says for whom hashes are computed. Default: for a command. */
export function claimHashesBy(find: () => Claim): void {
  findClaim = find;
}

/**
 * Runs work that computes hashes, with few concurrent calls. More would take the cores, threads and memory that other
 * requests need.
 * @throws service_unavailable (503) if too many calls of the client wait, or for too long; CallerGoneError
 */
export function withHashSlot<Result>(work: () => Promise<Result>): Promise<Result> {
  const claim = findClaim();
  return turns.run(claim, () => {
    if (claim.caller?.over.aborted) throw new CallerGoneError();
    return work();
  });
}
