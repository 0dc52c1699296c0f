import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSequencer } from '../src/events/sequencer.ts';
import { startDispatcher } from '../src/webhooks/dispatcher.ts';
import { generateSecret } from '../src/crypto/webhook-secret.ts';
import { newId } from '../src/entities/index.ts';
import { openServices } from '../src/service/open.ts';
import { readConfig } from '../src/config/config.ts';
import { change } from '../src/transactions/change.ts';

// Latency from commit to delivery with 1,000 endpoints, of which 100 hang: DATA_DIR=<empty> node bench/webhooks.ts
const ENDPOINTS = Number(process.env['ENDPOINTS'] ?? 1000);
const HANGING = Number(process.env['HANGING'] ?? 100);
const EVENTS = Number(process.env['EVENTS'] ?? 5);
const PAUSE_MS = Number(process.env['PAUSE_MS'] ?? 5000);

const opened = await openServices(readConfig({ ...process.env, SEED_DEMO: 'off' }), () => undefined);
const { services } = opened;
const report = (...parts: unknown[]) => void process.stderr.write(`${parts.map(String).join(' ')}\n`);
const silent = { info: () => undefined, warn: report, error: report };

const committedAt = new Map<string, number>();
const latencies: number[] = [];
const server = createServer((req, res) => {
  if (req.url === '/hangs') return;
  const arrivedAt = performance.now();
  req.resume().on('end', () => res.end());
  const at = committedAt.get(String(req.headers['webhook-id']));
  if (at !== undefined) latencies.push(arrivedAt - at);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo; // listening on TCP

const secret = services.encryption.encrypt(generateSecret('hmac'));
await services.db.run(
  {
    kind: 'command',
    name: '',
    text: `insert into webhook_cursor (id, sequence) select 1, coalesce(max(sequence), 0) from audit_link on conflict do nothing`,
  },
  [],
);
for (let i = 0; i < ENDPOINTS; i += 1) {
  const url = `http://127.0.0.1:${port}/${i < HANGING ? 'hangs' : 'answers'}`;
  await services.db.run(
    {
      kind: 'command',
      name: '',
      text: `insert into webhook_endpoint (id, created_at, url, types, secret) values ($1, now(), $2, '{}', $3)`,
    },
    [newId('whe'), url, secret],
  );
}

const sequencer = startSequencer(services, silent);
const dispatcher = startDispatcher(services, silent);
for (let i = 0; i < EVENTS; i += 1) {
  const id = await change(
    services.db,
    'system',
    { on: 'installation', requires: 'nothing' },
    async ({ em, record, run }) => {
      record('team.updated', { teamId: 'team_bench' });
      await run([]);
      const [row] = await em.execute<{ id: string }[]>('select max(id) as id from audit_event');
      return row?.id ?? '';
    },
  );
  committedAt.set(id, performance.now());
  await sleep(PAUSE_MS);
}
const expected = (ENDPOINTS - HANGING) * EVENTS;
for (const deadline = Date.now() + 120_000; latencies.length < expected && Date.now() < deadline; await sleep(50));
const sorted = latencies.toSorted((a, b) => a - b);
const quantile = (q: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN);
process.stdout.write(
  `${JSON.stringify({
    endpoints: ENDPOINTS,
    hanging: HANGING,
    events: EVENTS,
    delivered: latencies.length,
    expected,
    p50: quantile(0.5),
    p99: quantile(0.99),
    max: quantile(1),
  })}\n`,
);
server.closeAllConnections();
server.close();
await dispatcher.stop();
await sequencer.stop();
await opened.close();
process.exit(0);
