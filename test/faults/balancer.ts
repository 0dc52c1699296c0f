import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;
const POLL_PATIENCE_MS = 1000;

/** Set on an answer that the balancer had to make up, because a replica broke off. */
export const BROKEN = 'x-balancer-broken';

type Replica = { readonly port: number; readonly agent: Agent; isReady: boolean };

export type Balancer = Awaited<ReturnType<typeof startBalancer>>;

/**
 * What stands before the replicas: in turns to those that are ready by `/readyz`, to any where none is. It tries the
 * next one only where the connection was refused, so that no request can be done twice.
 */
export async function startBalancer(ports: readonly number[]) {
  const replicas = ports.map((port): Replica => ({
    port,
    agent: new Agent({ keepAlive: true, maxSockets: 64 }),
    isReady: true,
  }));
  const stopped = new AbortController();
  let turn = 0;

  const server = createServer(async (req, res) => {
    const body = await buffer(req).catch(() => undefined);
    if (body === undefined) return;
    turn += 1;
    const inTurn = [...replicas.slice(turn % replicas.length), ...replicas.slice(0, turn % replicas.length)];
    for (const replica of inTurn.toSorted((one, other) => Number(other.isReady) - Number(one.isReady))) {
      if ((await forward(replica, req, body, res)) === 'done') return;
    }
    res.writeHead(502, { [BROKEN]: 'no replica' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const watched = replicas.map((replica) => watch(replica, stopped.signal));

  return {
    port: (server.address() as AddressInfo).port, // listening on TCP
    isReady: (port: number): boolean => replicas.find((replica) => replica.port === port)?.isReady === true,
    async close(): Promise<void> {
      stopped.abort();
      server.close();
      server.closeAllConnections();
      await Promise.all(watched);
      for (const { agent } of replicas) agent.destroy();
    },
  };
}

async function watch(replica: Replica, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    const status = await fetch(`http://127.0.0.1:${replica.port}/readyz`, {
      signal: AbortSignal.timeout(POLL_PATIENCE_MS),
    }).then(
      (answer) => answer.body?.cancel().then(() => answer.status),
      () => undefined,
    );
    replica.isReady = status === 200;
    await sleep(POLL_MS, undefined, { signal: stopped }).catch(() => undefined);
  }
}

/** What is between two machines only, and not for the next. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding']);

const passedOn = (message: IncomingMessage) =>
  Object.fromEntries(Object.entries(message.headers).filter(([name]) => !OF_CONNECTION.has(name)));

function forward(
  { port, agent }: Replica,
  req: IncomingMessage,
  body: Buffer,
  res: ServerResponse,
): Promise<'done' | 'refused'> {
  const { method = '', url = '' } = req;
  return new Promise((resolve) => {
    const broken = (error: Error) => {
      if (isRefused(error)) return resolve('refused');
      if (res.headersSent) res.destroy();
      else res.writeHead(502, { [BROKEN]: error.message }).end();
      return resolve('done');
    };
    request({ host: '127.0.0.1', port, agent, method, path: url, headers: passedOn(req) }, (answer) => {
      buffer(answer).then((content) => {
        res.writeHead(answer.statusCode ?? 0, passedOn(answer)).end(content);
        resolve('done');
      }, broken);
    })
      .on('error', broken)
      .end(body);
  });
}

const isRefused = (error: Error): boolean => 'code' in error && error.code === 'ECONNREFUSED';
