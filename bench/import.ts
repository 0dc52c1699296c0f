import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Latency } from './load-client.ts';
import { answerTo, byKey, type RequestName } from './requests.ts';
import { openStage } from './stage.ts';

// `node bin/run.cjs bench/import.ts`: p50 and p99 of a tenant's reads and renames, and of verifications, alone and
// beside an import of an upload by the same process. `ROWS`: up to 350,000; `REQUESTS`: which, in this order.

const ROWS = Number(process.env['ROWS'] ?? 350_000);
const REQUESTS = (process.env['REQUESTS'] ?? 'teams,verify,patch').split(',') as RequestName[]; // `answerTo` says which is none
const PER_SECOND = 100;
const SECONDS = 10;
const SCOPES = ['accounts:write', 'teams:write', 'billing:write', 'credentials:verify'];

const stage = await openStage({ pin: false });
try {
  const { callers } = await stage.fillDatabase('roster', 'small');
  const { databaseUrl } = stage.backingOf('roster');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('update operator_key set scopes = $1', [SCOPES]);
  const server = await stage.start('roster', 'roster');
  const authorization = `Bearer ${callers[0]?.operatorKey}`;

  const measure = async (request: RequestName) => {
    const all = callers.map((caller) => byKey(request, caller)).filter((sent) => sent !== undefined);
    const first = await answerTo(server.url, all[0]!);
    const sent = all.slice(0, 1);
    const load = { urls: [server.url], sent, connections: 32, seconds: SECONDS, bodyLength: first.length };
    const { latency, failed, refused } = await stage.load.observe({ ...load, perSecond: PER_SECOND });
    return { ...(latency as Latency), failed: failed + refused };
  };
  const show = async (situation: string) => {
    for (const request of REQUESTS) {
      const { p50, p99, failed } = await measure(request);
      process.stdout.write(`| ${situation} | ${request} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${failed} |\n`);
    }
  };

  process.stdout.write('| situation | request | p50 ms | p99 ms | failed |\n|---|---|--:|--:|--:|\n');
  await measure('teams');
  await show('alone');
  const body = Array.from(
    { length: ROWS },
    (_, i) =>
      `${JSON.stringify({ type: 'account', externalId: `bench-${i}`, email: `bench-${i}@example.com`, firstName: 'Ada', passwordHash: '$2b$10$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234' })}\n`,
  ).join('');
  const uploadedAt = performance.now();
  const uploaded = await fetch(`${server.url}/operator/v1/imports`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-ndjson' },
    body,
  });
  const { id } = (await uploaded.json()) as { id: string };
  process.stderr.write(`uploaded ${body.length} bytes in ${Math.round(performance.now() - uploadedAt)} ms\n`);
  const read = async () =>
    (await (await fetch(`${server.url}/operator/v1/imports/${id}`, { headers: { authorization } })).json()) as {
      finishedAt: string | null;
      imported: { accounts: number };
      refused: number;
    };
  await show('beside the import');
  const after = await read();
  process.stderr.write(`${JSON.stringify({ ...after, refusals: undefined })}\n`);
  while ((await read()).finishedAt === null) await sleep(100);
  process.stderr.write(`imported in ${Math.round((performance.now() - uploadedAt) / 1000)} s\n`);
  await show('after it');
  await client.end();
} finally {
  await stage.close();
}
process.exit(0);
