import { Agent, request } from 'node:http';
import type { Load, LoadResult } from './load-client.ts';
import type { Sent } from './requests.ts';

/**
 * Sends requests evenly, whether or not earlier ones have been answered, and takes their times from
 * the moment each was due, so that a pause of the server is seen by all that fell into it. (autocannon
 * sends the requests of a second all at its beginning, which is a different question.)
 */
export async function pacedLatencies(
  { urls: [url = ''], sent, connections, seconds, bodyLength, isOnce = false }: Load,
  perSecond: number,
): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const total = Math.min(isOnce ? sent.length : Infinity, Math.round(perSecond * seconds));
  const latencies: number[] = [];
  let refused = 0;
  let failed = 0;
  const startedAt = performance.now();
  const answers: Promise<void>[] = [];

  async function one(index: number): Promise<void> {
    const dueAt = startedAt + (1000 * index) / perSecond;
    const caller = sent[index % sent.length];
    if (caller === undefined) return;
    try {
      const { status, length } = await ask(agent, url, caller);
      latencies.push(performance.now() - dueAt);
      if (status < 200 || status > 299) refused++;
      else if (length !== bodyLength) failed++;
    } catch {
      failed++;
    }
  }

  await new Promise<void>((resolve) => {
    function sendDue(): void {
      const due = Math.min(total, Math.floor(((performance.now() - startedAt) * perSecond) / 1000) + 1);
      while (answers.length < due) answers.push(one(answers.length));
      if (answers.length === total) resolve();
      else setTimeout(sendDue, 1);
    }
    sendDue();
  });
  await Promise.all(answers);
  const duration = (performance.now() - startedAt) / 1000;
  agent.destroy();

  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(share * (latencies.length - 1))] ?? NaN;
  return {
    requests: latencies.length,
    perSecond: latencies.length / duration,
    refused,
    failed,
    latency: { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) },
  };
}

function ask(agent: Agent, url: string, { method, path, headers, body }: Sent) {
  return new Promise<{ status: number; length: number }>((resolve, reject) => {
    const asked = request(url + path, { agent, method, headers }, (answer) => {
      let length = 0;
      answer.on('data', (chunk: Buffer) => (length += chunk.length));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, length }));
      answer.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
