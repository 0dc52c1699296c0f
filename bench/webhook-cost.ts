import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEncryption } from '../src/crypto/encryption.ts';
import { createTokens } from '../src/crypto/tokens.ts';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { migrate } from '../src/db/migrate.ts';
import { openDatabase } from '../src/db/database.ts';
import { newId } from '../src/entities/index.ts';
import { readConfig } from '../src/config/config.ts';
import { generateSecret } from '../src/crypto/webhook-secret.ts';
import { factoriesOf } from '../test/support/factories.ts';
import { startService } from '../test/support/service.ts';
import { cpuSecondsOf } from './proc.ts';

// What webhooks cost a change, and how fast they are: the same PATCH of teams with 0, 1 and 10 endpoints, in turn in
// one run of the service. node bin/run.cjs bench/webhook-cost.ts
const ENDPOINTS = [0, 1, 10];
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const SECONDS = Number(process.env['SECONDS'] ?? 15);
const PER_SECOND = Number(process.env['PER_SECOND'] ?? 20);
const SECRET_KEYS = 'bench-key-bench-key-bench-key-bench';

type Variant = {
  readonly endpoints: number;
  readonly teamId: string;
  readonly secret: string;
  /** Of the PATCHes, in milliseconds. */
  readonly answers: number[];
  /** When they were answered, by the id of the request. */
  readonly changes: Map<string, number>;
  cpuSeconds: number;
};

/** The times of deliveries, by the path of the endpoint and the id of the request that changed the team. */
const arrivals = new Map<string, number>();
const receiver = createServer((req, res) => {
  let body = '';
  req.on('data', (chunk: Buffer) => (body += chunk.toString()));
  req.on('end', () => {
    res.end();
    const { clientRequestId } = JSON.parse(body) as { clientRequestId: string };
    arrivals.set(`${req.url} ${clientRequestId}`, performance.now());
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const { port } = receiver.address() as AddressInfo; // listening on TCP

const dataDir = mkdtempSync(join(tmpdir(), 'roster-webhook-cost-'));
chmodSync(dataDir, 0o755);
const postgres = await startEmbedded({ dataDir, durable: true });
await migrate(postgres.url);
const db = await openDatabase(postgres.url, 4);
const encryption = createEncryption([SECRET_KEYS]);
const config = readConfig({ DATABASE_URL: postgres.url, SECRET_KEYS, DATA_DIR: dataDir });
const factories = factoriesOf({ db, encryption, config, tokens: createTokens('rst'), audit: () => undefined });

async function aVariant(endpoints: number): Promise<Variant> {
  const owner = await factories.anAccount();
  const team = await factories.aTeam({ owner });
  const { secret } = await factories.anApiKey(owner, { scopes: ['teams:read', 'teams:write'] });
  for (let i = 0; i < endpoints; i += 1)
    await factories.rows(
      `insert into webhook_endpoint (id, created_at, team_id, account_id, url, types, secret)
       values ($1, now(), $2, $3, $4, '{}', $5)`,
      [
        newId('whe'),
        team.id,
        owner.id,
        `http://127.0.0.1:${port}/${team.id}/${i}`,
        encryption.encrypt(generateSecret('hmac')),
      ],
    );
  return { endpoints, teamId: team.id, secret, answers: [], changes: new Map(), cpuSeconds: 0 };
}
const variants: Variant[] = [];
for (const endpoints of ENDPOINTS) variants.push(await aVariant(endpoints));
await factories.rows('insert into webhook_cursor (id, sequence) select 1, coalesce(max(sequence), 0) from audit_link');

const service = await startService({
  dataDir,
  env: { DATABASE_URL: postgres.url, SECRET_KEYS, RATE_LIMIT: '1000000', LOG_LEVEL: 'warn', SEED_DEMO: 'off' },
});
const agent = new Agent({ keepAlive: true });

async function change({ teamId, secret, answers, changes }: Variant, name: string, isCounted: boolean): Promise<void> {
  const startedAt = performance.now();
  const req = request(`${service.url}/api/v1/teams/${teamId}`, {
    method: 'PATCH',
    agent,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  });
  req.end(JSON.stringify({ name }));
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const at = performance.now();
  await once(res.resume(), 'end');
  if (res.statusCode !== 200) throw new Error(`The PATCH answered ${res.statusCode}.`);
  if (!isCounted) return;
  answers.push(at - startedAt);
  changes.set(String(res.headers['x-request-id']), at);
}

/** The times from the response to each delivery, in milliseconds; undefined for one that has not arrived. */
const deliveriesOf = ({ teamId, endpoints, changes }: Variant): (number | undefined)[] =>
  [...changes].flatMap(([requestId, answeredAt]) =>
    Array.from({ length: endpoints }, (_, i) => {
      const at = arrivals.get(`/${teamId}/${i} ${requestId}`);
      return at === undefined ? undefined : Math.max(0, at - answeredAt);
    }),
  );
const missing = (variant: Variant): number => deliveriesOf(variant).filter((ms) => ms === undefined).length;

async function run(variant: Variant, round: number): Promise<void> {
  const before = cpuSecondsOf([service.pid]);
  const startedAt = performance.now();
  const changes: Promise<void>[] = [];
  for (let i = 0; i < PER_SECOND * SECONDS; i += 1) {
    await sleep(Math.max(0, startedAt + (i * 1000) / PER_SECOND - performance.now()));
    changes.push(change(variant, `${variant.endpoints} ${round} ${i}`, round >= 0));
  }
  await Promise.all(changes);
  for (const deadline = Date.now() + 30_000; missing(variant) > 0 && Date.now() < deadline; await sleep(50));
  if (round >= 0) variant.cpuSeconds += cpuSecondsOf([service.pid]) - before;
}

// The first round warms up and does not count.
for (let round = -1; round < ROUNDS; round += 1) for (const variant of variants) await run(variant, round);

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? NaN;
const ms = (value: number): string => (Number.isNaN(value) ? '–' : `${value.toFixed(1)} ms`);
const [base] = variants;
const ratio = (pick: (variant: Variant) => number, variant: Variant): string =>
  base === undefined ? '–' : (pick(variant) / pick(base)).toFixed(2);
const cpuMs = ({ cpuSeconds, answers }: Variant): number => (cpuSeconds * 1000) / answers.length;
const arrivedOf = (variant: Variant) => deliveriesOf(variant).filter((time) => time !== undefined);
const rows = variants.map((variant) => [
  variant.endpoints,
  variant.answers.length,
  `${ms(quantile(variant.answers, 0.5))} (${ratio(({ answers }) => quantile(answers, 0.5), variant)})`,
  `${ms(quantile(variant.answers, 0.99))} (${ratio(({ answers }) => quantile(answers, 0.99), variant)})`,
  `${ms(cpuMs(variant))} (${ratio(cpuMs, variant)})`,
  deliveriesOf(variant).length,
  missing(variant),
  ms(quantile(arrivedOf(variant), 0.5)),
  ms(quantile(arrivedOf(variant), 0.99)),
]);
process.stdout.write(
  [
    '| endpoints | PATCHes | p50 | p99 | CPU time of the service | deliveries | missing | p50 | p99 |',
    '|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
  ].join('\n'),
);
service.kill('SIGKILL');
await service.exited;
agent.destroy();
receiver.closeAllConnections();
receiver.close();
await db.close();
await postgres.close();
rmSync(dataDir, { recursive: true, force: true });
