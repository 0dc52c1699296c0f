import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/config/config.ts';
import { createEncryption } from '../src/crypto/encryption.ts';
import { openDatabase } from '../src/db/database.ts';
import { migrate } from '../src/db/migrate.ts';
import { useEventKey } from '../src/events/chain/event-mac.ts';
import { recordNow } from '../src/transactions/record-now.ts';
import { startSequencer } from '../src/events/sequencer.ts';

const RATE = 100;
const SECONDS = 30;

/** Measures how long after its commit an event is readable in its order, at 100 changes a second. */
const dataDir = mkdtempSync(join(tmpdir(), 'roster-lag-'));
chmodSync(dataDir, 0o755);
const server = await startEmbedded({ dataDir, durable: false });
await migrate(server.url);
const db = await openDatabase(server.url, 10);
const services = { config: readConfig({}), db, encryption: createEncryption(['bench-key-bench-key-bench-key-bench']) };
useEventKey(db, services.encryption);
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const sequencer = startSequencer(services, log);
const committed = new Map<number, number>();
const lags: number[] = [];
const reader = new pg.Client(server.url);
await reader.connect();

let last = 0;
let isDone = false;
const reading = (async () => {
  for (; !isDone; await sleep(2)) {
    const { rows } = await reader.query<{ sequence: string; number: number }>(
      `select p.sequence, (e.details->>'number')::int as number from event_payload p join audit_event e on e.id = p.event_id
       where p.sequence > $1 order by p.sequence`,
      [last],
    );
    const now = performance.now();
    for (const { sequence, number } of rows) {
      last = Number(sequence);
      lags.push(now - (committed.get(number) ?? now));
    }
  }
})();

const startedAt = performance.now();
const changes: Promise<void>[] = [];
for (let i = 0; i < RATE * SECONDS; i += 1) {
  await sleep(Math.max(0, startedAt + (i * 1000) / RATE - performance.now()));
  const change = recordNow(db, 'team.deleted', { teamId: 'team_lag', number: i });
  changes.push(change.then(() => void committed.set(i, performance.now())));
}
await Promise.all(changes);
await sleep(2000);
isDone = true;
await reading;
const sorted = lags.toSorted((a, b) => a - b);
const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0);
process.stdout.write(
  `${sorted.length} of ${RATE * SECONDS} events; from commit to its place in the order: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, largest ${at(1)} ms\n`,
);
await reader.end();
await sequencer.stop();
await db.close();
await server.close();
rmSync(dataDir, { recursive: true, force: true });
