import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { onTestFinished, vi } from 'vitest';
import type { Mail } from '../../src/email/mailer.ts';
import { startApi, type Api } from '../support/api.ts';
import { createVisitor } from '../support/browser.ts';
import { createClient } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { makeDataDir, removeDataDir, startService } from '../support/service.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** An instance whose factories fill the database, and the service in a process of its own on the same one. */
export async function aWatchedService(env: Record<string, string> = {}) {
  const rows = await startApi();
  onTestFinished(() => rows.close());
  const dataDir = makeDataDir();
  const metricsPort = await freePort();
  const service = await startService({
    dataDir,
    env: {
      DATABASE_URL: rows.databaseUrl,
      SECRET_KEYS: 'test-key-test-key-test-key-test-key',
      METRICS_PORT: String(metricsPort),
      SIGNUP: 'open',
      ...env,
    },
  });
  const client = createClient(service.port, undefined);
  const baseUrl = `http://localhost:${service.port}`;
  const api: Api = {
    ...rows,
    ...client,
    port: service.port,
    visitor: (options) => createVisitor(service.port, baseUrl, options),
    mailTo: (address, subject) => mailIn(join(dataDir, 'mail'), address, subject),
    close: () => rows.close(),
  };

  async function stop(): Promise<void> {
    service.kill('SIGTERM');
    await service.exited;
  }
  onTestFinished(async () => {
    client.close();
    await stop();
    await removeDataDir(dataDir);
  });

  return { api, service, dataDir, metricsPort, stop, scrape: () => scrape(metricsPort) };
}

/** The latest mail to an address in the files that the service writes, waiting for it within a bound. */
function mailIn(directory: string, address: string, subject = /./): Promise<Mail> {
  const find = async (): Promise<Mail> => {
    const files = readdirSync(directory).filter((name) => name.endsWith('.eml'));
    const mails = await Promise.all(
      files.toSorted().map((name) => PostalMime.parse(readFileSync(join(directory, name)))),
    );
    const found = mails.findLast(({ to, subject: line = '' }) => to?.[0]?.address === address && subject.test(line));
    if (found === undefined) throw new Error(`No mail to ${address} with a subject like ${subject}.`);
    return { to: address, subject: found.subject ?? '', text: found.text ?? '', html: found.html ?? '' };
  };
  return vi.waitFor(find, { interval: 20, timeout: PATIENCE_MS });
}

/** The metrics as they stand: `name{labels}` and value. */
export async function scrape(port: number): Promise<{ text: string; values: ReadonlyMap<string, number> }> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  if (answer.status !== 200) throw new Error(`No metrics: ${answer.status}`);
  const text = await answer.text();
  const values = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line): [string, number] => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]);
  return { text, values: new Map(values) };
}

type Attribute = { key: string; value: { stringValue?: string; intValue?: number } };

export type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  /** 2 of a server, 3 of a client. */
  kind: number;
  attributes: Attribute[];
  status: { code: number };
};

type Export = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[];
};

export const attributesOf = ({ attributes }: { attributes: Attribute[] }): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

/** A collector of traces, as OTLP over HTTP describes one. */
export async function aCollector() {
  const exports: Export[] = [];
  const server = createServer(async (req, res) => {
    const isExport = req.method === 'POST' && req.url === '/v1/traces';
    if (isExport) exports.push((await json(req)) as Export);
    res.writeHead(isExport ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // listening on TCP

  return {
    url: `http://127.0.0.1:${port}`,
    exports,
    spans: () =>
      exports.flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
  };
}
