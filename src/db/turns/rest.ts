import { SECOND_MS } from '../../time.ts';

const REST_MS_MAX = SECOND_MS;

/** How much long work this process is at. */
let atWork = 0;

/**
 * Runs long work, which rests after each of its steps: for as long as the step took, or for twice as long if there are two
 * of such works at a time. So requests have at least half of what the machine can do, however much is at work.
 */
export async function withRests<Result>(work: (rest: () => Promise<void>) => Promise<Result>): Promise<Result> {
  atWork += 1;
  let restedAt = performance.now();
  const rest = async () => {
    const restMs = Math.min(REST_MS_MAX, atWork * (performance.now() - restedAt));
    await new Promise((resolve) => setTimeout(resolve, restMs));
    restedAt = performance.now();
  };
  return work(rest).finally(() => (atWork -= 1));
}
