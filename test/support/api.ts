import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { test as base } from 'vitest';
import { auditLog } from '../../src/events/event.ts';
import { readConfig, type Config } from '../../src/config/config.ts';
import { createServices } from '../../src/service/open.ts';
import { buildService } from '../../src/service/build.ts';
import { openLog } from '../../src/telemetry/log.ts';
import { API_FACE } from '../../src/rest/api-face.ts';
import { describeFace } from '../../src/rest/describe-face.ts';
import { OPERATOR_FACE } from '../../src/rest/operator-face.ts';
import { apiRouter, operatorRouter } from '../../src/router.ts';
import { closeServer, listen } from '../../src/http/server.ts';
import { createVisitor } from './browser.ts';
import { createClient } from './client.ts';
import { allContracts, contractOf, type Contract } from './contract.ts';
import { createTestDatabase } from './database.ts';
import { factoriesOf } from './factories.ts';
import { createMailbox } from './mailbox.ts';
import { openPatiently } from './open-patiently.ts';
import { PATIENCE_MS } from './patience.ts';
import { requireCatalogued } from './recorded-events.ts';

const BASE_URL = 'http://localhost:3000';

/** Of both documents, compiled with the first answer and kept: it takes longer than starting the service. */
const CONTRACT: Contract = {
  check(...answered) {
    contract ??= readContract();
    contract.check(...answered);
  },
};
let contract: Contract | undefined;

const readContract = (): Contract =>
  allContracts(
    contractOf(describeFace(API_FACE, apiRouter, BASE_URL).document),
    contractOf(describeFace(OPERATOR_FACE, operatorRouter, BASE_URL).document),
  );

/** How many run on each database. */
const instances = new Map<string, number>();

type Limits = { readonly redisAnswerMs: number };

const PATIENT: Limits = { redisAnswerMs: PATIENCE_MS };

export type Api = Awaited<ReturnType<typeof startApi>>;

/**
 * The real app on a free port, on a database of its own unless it joins another's.
 * @param settings environment variables; the limits per address are out of the way unless a test is about it
 * @param shared the instance whose database this one joins, as another replica; that one is closed last
 * @param place a server whose port this one takes over
 * @param limits the service's own time limits, which a busy machine would reach otherwise
 */
export async function startApi(
  settings: Record<string, string> = {},
  shared?: { readonly databaseUrl: string },
  place?: Server,
  limits: Limits = PATIENT,
) {
  const database =
    shared === undefined ? await createTestDatabase() : { url: shared.databaseUrl, drop: () => Promise.resolve() };
  const dataDir = mkdtempSync(join(tmpdir(), 'roster-api-'));
  const read = readConfig({
    BASE_URL,
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    SECRET_KEYS: 'test-key-test-key-test-key-test-key',
    RATE_LIMIT: '1000000',
    SIGN_IN_ADDRESS_LIMIT: '1000000',
    OAUTH_REGISTRATION_LIMIT: '1000000',
    OAUTH_ADDRESS_LIMIT: '1000000',
    SIGNUP: 'open',
    ...settings,
  });
  const config: Config = { ...read, redis: read.redis && { ...read.redis, answerMs: limits.redisAnswerMs } };
  const lines: Record<string, unknown>[] = [];
  const log = openLog('debug', collector(lines));
  const db = await openPatiently(database.url, config.databasePoolMax);
  const services = createServices(config, db, config.secretKeys ?? [], auditLog(log));
  const service = await buildService(services, log, {
    reportFailure: (error, message) => log.error({ err: error }, message),
  });
  const { server, readiness } = service;
  const { usage, denials, operatorReads } = service.http;
  await (place === undefined ? listen(server, 0, '127.0.0.1') : once(server.listen(place), 'listening'));
  const { port } = server.address() as AddressInfo; // listening on TCP
  const client = createClient(port, CONTRACT);

  const factories = factoriesOf(services);
  const mailbox = createMailbox(services, log, factories.rows);
  let mayHoldStrayEvents = false;
  instances.set(database.url, (instances.get(database.url) ?? 0) + 1);

  return {
    ...client,
    ...factories,
    services,
    http: service.http,
    usage,
    denials,
    operatorReads,
    readiness,
    port,
    databaseUrl: database.url,
    /** What was logged, a line each. */
    lines,
    /** A browser of its own. */
    visitor: (options?: { userAgent?: string }) => createVisitor(port, config.baseUrl, options),
    mailTo: mailbox.mailTo,
    mails: mailbox.mails,
    /** For tests with events that were written past the service or by another version. */
    allowStrayEvents() {
      mayHoldStrayEvents = true;
    },
    /**
     * Ends it, and drops the database if it is its own.
     * @throws if it is the last on that database, and an event there differs from the catalogue
     */
    async close() {
      client.close();
      await mailbox.close();
      await closeServer(server, 1000);
      await service.flush();
      await service.close();
      try {
        const left = (instances.get(database.url) ?? 1) - 1;
        instances.set(database.url, left);
        const isLast = shared === undefined || left === 0;
        if (isLast && !mayHoldStrayEvents) await requireCatalogued(services, factories.rows);
      } finally {
        await db.close();
        await database.drop();
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
  };
}

/** The same with the address that it listens at as its own, which client libraries compare. */
export async function startApiAtItsAddress(settings: Record<string, string> = {}, host = '127.0.0.1'): Promise<Api> {
  const place = createServer().listen(0, '127.0.0.1');
  await once(place, 'listening');
  const { port } = place.address() as AddressInfo; // listening on TCP
  return startApi({ ...settings, BASE_URL: `http://${host}:${port}` }, undefined, place);
}

function collector(lines: Record<string, unknown>[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>); // pino writes an object a line
      done();
    },
  });
}

/**
 * `test` with the service of its file: started once, and failing the file when the service
 * logged a fault of its own or a secret.
 */
export const testWith = (start: () => Promise<Api>) =>
  base.extend<{ api: Api }>({
    api: [
      // eslint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
      async ({}, use) => {
        const api = await start();
        await use(api);
        await api.close();
        const faults = api.lines.filter(({ level }) => Number(level) >= 50);
        const leaks = api.lines.filter((line) => /rst_[a-z]+_[0-9A-Za-z]{49}/.test(JSON.stringify(line)));
        if (leaks.length > 0) throw new Error(`The service logged a secret: ${JSON.stringify(leaks, null, 2)}`);
        if (faults.length > 0) throw new Error(`The service logged ${JSON.stringify(faults, null, 2)}`);
      },
      { scope: 'file' },
    ],
  });

export const test = testWith(() => startApi());
