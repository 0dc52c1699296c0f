import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Caller, Filled } from './data/fill.ts';
import { environmentOf, type Backing, type Server } from './servers.ts';

export type Scene = Filled & { readonly server: Server; readonly backing: Backing };
type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object;
};

/** Commands check the setting, and listen nowhere. */
const UNUSED_PORT = 3000;

/** Sends one request and reads its answer to the end, or hangs up before. Never rejects. */
function ask({ server }: Scene, agent: Agent, { method, path, headers, body }: Sent, hangUpMs?: number): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(server.url + path, {
      agent,
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    });
    const timer = hangUpMs === undefined ? undefined : setTimeout(() => sent.destroy(), hangUpMs);
    sent.on('response', (answer) => answer.resume());
    sent.on('error', () => undefined);
    sent.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

type Pace = { readonly hangUpMs?: number; readonly everyMs?: number };

/**
 * Keeps so many requests under way, or sends so many at once `everyMs`. At low priority, because a client has a machine
 * of its own: otherwise the tenant would wait for the cores on which this program sends.
 */
export function flood(
  scene: Scene,
  count: number,
  next: (index: number) => Sent,
  { hangUpMs, everyMs = 0 }: Pace = {},
) {
  const agent = new Agent({ keepAlive: hangUpMs === undefined, maxSockets: count });
  setPriority(constants.priority.PRIORITY_LOW);
  let isOver = false;
  let sent = 0;
  const loops = Array.from({ length: count }, async () => {
    while (!isOver) await Promise.all([ask(scene, agent, next((sent += 1)), hangUpMs), sleep(everyMs)]);
  });
  return {
    async stop() {
      isOver = true;
      agent.destroy();
      await Promise.all(loops);
      setPriority(constants.priority.PRIORITY_NORMAL);
    },
  };
}

export const bearer = ({ key }: Caller) => ({ authorization: `Bearer ${key}` });

export function lastCaller({ callers }: Filled): Caller {
  const caller = callers.at(-1);
  if (caller === undefined) throw new Error('There are no callers.');
  return caller;
}

async function connectTo({ databaseUrl }: Backing): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined); // where the benchmark fails, its server ends first
  await client.connect();
  return client;
}

/** Holds the locks of teams, and keeps 12 renames of each waiting. */
export async function renameLocked(scene: Scene, owners: readonly Caller[]) {
  const client = await connectTo(scene.backing);
  await client.query('begin');
  const renames: ReturnType<typeof flood>[] = [];
  for (const owner of owners) {
    await client.query('select from team where id = $1 for update', [owner.teamId]);
    const path = `/api/v1/teams/${owner.teamId}`;
    const sent = { method: 'PATCH', path, headers: bearer(owner), body: { name: 'Renamed' } };
    renames.push(flood(scene, 12, () => sent));
  }
  return {
    async stop() {
      await client.end();
      await Promise.all(renames.map((each) => each.stop()));
    },
  };
}

/** Creates keys of one account over the API. */
export async function createKeys({ server, giant }: Scene, count: number): Promise<string[]> {
  const keys = [];
  for (let i = 0; i < count; i += 1) {
    const response = await fetch(`${server.url}/api/v1/api-keys`, {
      method: 'POST',
      headers: { ...bearer(giant), 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Key ${i}`, scopes: ['members:read'] }),
    });
    const { secret } = (await response.json()) as { secret: string };
    keys.push(secret);
  }
  return keys;
}

/** Runs a command of the service with the arguments for its number, until it is told to stop. */
export function repeatCommand(backing: Backing, args: (count: number) => readonly string[]) {
  const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
  let isOver = false;
  let child: ReturnType<typeof spawn> | undefined;
  const runs = (async () => {
    for (let count = 0; !isOver; count += 1) {
      child = spawn(process.execPath, [main, ...args(count)], {
        env: environmentOf(backing, UNUSED_PORT),
        stdio: 'ignore',
      });
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== 0 && !isOver) throw new Error(`The command ends with ${code}.`);
      await sleep(10);
    }
  })();
  runs.catch(() => undefined); // told by `stop`
  return {
    async stop() {
      isOver = true;
      child?.kill('SIGKILL');
      await runs;
    },
  };
}

/** Computes in so many programs that ask the service for nothing. */
export function compute(count: number) {
  const programs = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
  );
  return {
    async stop() {
      await Promise.all(programs.map((program) => (program.kill('SIGKILL'), once(program, 'exit'))));
    },
  };
}

/** Opens so many connections a second, each of which is reset right after it has sent a request. */
export function resetAfterRequest({ server }: Scene, perSecond: number, next: (index: number) => Sent) {
  const { hostname, port } = new URL(server.url);
  const TURN_MS = 10;
  let opened = 0;
  setPriority(constants.priority.PRIORITY_LOW);
  const timer = setInterval(() => {
    for (let i = 0; i < (perSecond * TURN_MS) / 1000; i += 1) {
      const { method, path, headers } = next((opened += 1));
      const lines = Object.entries({ host: hostname, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => undefined);
      socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, () => socket.resetAndDestroy());
    }
  }, TURN_MS);
  return {
    stop() {
      clearInterval(timer);
      setPriority(constants.priority.PRIORITY_NORMAL);
      return Promise.resolve();
    },
  };
}

/** Opens so many connections, sends the same request on each and never reads the response. */
export function openSilently(
  { server }: Scene,
  count: number,
  path: string,
  headers: Readonly<Record<string, string>>,
) {
  const { hostname, port } = new URL(server.url);
  const lines = Object.entries({ host: hostname, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    return socket;
  });
  return {
    stop() {
      for (const socket of sockets) socket.destroy();
      return Promise.resolve();
    },
  };
}
