import type { Load, LoadResult } from './load-client.ts';
import { pacedLatencies } from './paced.ts';

// The load generator: a process of its own, so that it shares no event loop with anything it measures.

/** As many requests as the connections carry, spread over the servers. */
async function flood({ urls, sent, connections, seconds, bodyLength, isOnce = false }: Load): Promise<LoadResult> {
  const { default: autocannon } = await import('autocannon');
  const share = Math.max(1, Math.floor(connections / urls.length));
  const results = await Promise.all(
    urls.map((url, index) => {
      let next = index * share;
      return autocannon({
        url,
        connections: share,
        ...(isOnce ? { amount: sent.length } : { duration: seconds }),
        requests: sent.slice(0, 1),
        // Each connection has callers of its own.
        setupClient(client) {
          const mine = next++ % connections;
          client.setRequests(sent.filter((_, caller) => caller % connections === mine % sent.length));
        },
        verifyBody: (body) => body.length === bodyLength,
      });
    }),
  );
  const sum = (pick: (result: (typeof results)[number]) => number) =>
    results.reduce((total, one) => total + pick(one), 0);
  return {
    requests: sum((result) => result['2xx']),
    perSecond: sum((result) => result['2xx'] / result.duration),
    refused: sum((result) => result.non2xx),
    failed: sum(({ errors, timeouts, mismatches }) => errors + timeouts + mismatches),
  };
}

process.on('message', (load: Load) => {
  const done = load.perSecond === undefined ? flood(load) : pacedLatencies(load, load.perSecond);
  done.then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
