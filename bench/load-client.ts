import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Sent } from './requests.ts';

export type Load = {
  readonly urls: readonly string[];
  readonly sent: readonly Sent[];
  readonly connections: number;
  readonly seconds: number;
  /** Of every right answer. */
  readonly bodyLength: number;
  /** Each request is sent once, however long that takes. */
  readonly isOnce?: boolean;
  /** Evenly paced requests, for latencies; as many as there can be, where undefined. */
  readonly perSecond?: number;
};

export type LoadResult = {
  readonly requests: number;
  readonly perSecond: number;
  /** Answers other than 2xx. */
  readonly refused: number;
  /** Connections that broke, requests without an answer, and answers with another body. */
  readonly failed: number;
  readonly latency?: Latency;
};

/** In milliseconds. */
export type Latency = { readonly p50: number; readonly p99: number; readonly p999: number; readonly max: number };

export type LoadGenerator = {
  readonly pid: number;
  /** One at a time. @throws where an answer was not the one expected: such a run does not count */
  run(load: Load): Promise<LoadResult>;
  /** Like `run`, for loads that may fail, which is what is measured then. */
  observe(load: Load): Promise<LoadResult>;
  stop(): void;
};

export function startLoadGenerator(): LoadGenerator {
  const child = fork(new URL('./load.ts', import.meta.url), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(child, 'exit').then(([code]) => [{ error: `it ended with ${code}` }]);
  async function observe(load: Load): Promise<LoadResult> {
    child.send(load);
    const [message] = await Promise.race([once(child, 'message'), exited]);
    const { result, error } = message as { result?: LoadResult; error?: string }; // it sends these alone
    if (result === undefined) throw new Error(`The load generator failed: ${error}`);
    return result;
  }
  return {
    pid: child.pid ?? 0,
    observe,
    async run(load) {
      const result = await observe(load);
      const { requests, refused, failed } = result;
      if (requests === 0 || refused + failed > 0) {
        throw new Error(`Of ${requests + refused} answers ${refused} were no success, and ${failed} requests failed.`);
      }
      return result;
    },
    stop: () => void (child.connected && child.disconnect()),
  };
}
