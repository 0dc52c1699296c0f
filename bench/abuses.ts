import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Caller, Filled } from './data/fill.ts';
import { environmentOf, type Backing, type Server } from './servers.ts';

type Scene = Filled & { readonly server: Server; readonly backing: Backing };
type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object;
};

/** What a neighbour does until it is told to stop. */
export type Abuse = { readonly title: string; readonly start: (scene: Scene) => Promise<{ stop(): Promise<void> }> };

const LIST_HANG_UP_MS = 1500;
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

/** Keeps so many requests under way, or sends so many at once `everyMs`. */
function flood(scene: Scene, count: number, next: (index: number) => Sent, { hangUpMs, everyMs = 0 }: Pace = {}) {
  const agent = new Agent({ keepAlive: hangUpMs === undefined, maxSockets: count });
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
    },
  };
}

const bearer = ({ key }: Caller) => ({ authorization: `Bearer ${key}` });

function lastCaller({ callers }: Filled): Caller {
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

export const ABUSES: readonly Abuse[] = [
  {
    title: '12 renames wait for the lock of one team',
    async start(scene) {
      const { teamId, ...caller } = lastCaller(scene);
      const client = await connectTo(scene.backing);
      await client.query('begin');
      await client.query('select from team where id = $1 for update', [teamId]);
      const headers = bearer({ teamId, ...caller });
      const path = `/api/v1/teams/${teamId}`;
      const renames = flood(scene, 12, () => ({ method: 'PATCH', path, headers, body: { name: 'Renamed' } }));
      return {
        async stop() {
          await client.end();
          await renames.stop();
        },
      };
    },
  },
  {
    title: '100 invitations at once by one key, each second',
    start(scene) {
      const caller = lastCaller(scene);
      const path = `/api/v1/teams/${caller.teamId}/invitations`;
      const next = (index: number) => ({
        method: 'POST',
        path,
        headers: bearer(caller),
        body: { email: `invited-${index}@example.com` },
      });
      return Promise.resolve(flood(scene, 100, next, { everyMs: 1000 }));
    },
  },
  {
    title: `250 lists of 10,000 members at once, hung up after ${LIST_HANG_UP_MS / 1000} s, again and again`,
    start: (scene) => {
      const path = `/api/v1/teams/${scene.giant.teamId}/members`;
      const next = () => ({ method: 'GET', path, headers: bearer(scene.giant) });
      return Promise.resolve(flood(scene, 250, next, { hangUpMs: LIST_HANG_UP_MS, everyMs: LIST_HANG_UP_MS }));
    },
  },
  {
    title: '20 connections that list 2,000 teams',
    start: (scene) =>
      Promise.resolve(flood(scene, 20, () => ({ method: 'GET', path: '/api/v1/teams', headers: bearer(scene.giant) }))),
  },
  {
    title: 'two connections with tRPC batches of 20 lists of 10,000 members',
    start: (scene) => {
      const names = Array.from({ length: 20 }, () => 'listTeamMembers').join(',');
      const input = Object.fromEntries(names.split(',').map((_, index) => [index, { teamId: scene.giant.teamId }]));
      const path = `/trpc/${names}?batch=1&input=${encodeURIComponent(JSON.stringify(input))}`;
      return Promise.resolve(flood(scene, 2, () => ({ method: 'GET', path, headers: bearer(scene.giant) })));
    },
  },
  {
    title: '50 connections that guess passwords, each from another address',
    start: (scene) =>
      Promise.resolve(
        flood(scene, 50, (index) => ({
          method: 'POST',
          path: '/trpc/auth.signIn',
          headers: {
            origin: scene.server.url.replace('127.0.0.1', 'localhost'),
            'x-forwarded-for': `198.${18 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`,
          },
          body: { email: `guessed-${index}@example.com`, password: 'wrong-password' },
        })),
      ),
  },
  {
    title: '`roster audit export`, again and again',
    start({ backing }) {
      const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
      let isOver = false;
      let child: ReturnType<typeof spawn> | undefined;
      const exports = (async () => {
        while (!isOver) {
          child = spawn(process.execPath, [main, 'audit', 'export', '--format', 'ndjson'], {
            env: environmentOf(backing, UNUSED_PORT),
            stdio: 'ignore',
          });
          const [code] = await new Promise<(number | null)[]>((resolve) =>
            child?.once('exit', (...status) => resolve([status[0]])),
          );
          if (code !== 0 && !isOver) throw new Error(`The export ends with ${code}.`);
          await sleep(10);
        }
      })();
      exports.catch(() => undefined); // told by `stop`
      return Promise.resolve({
        async stop() {
          isOver = true;
          child?.kill('SIGKILL');
          await exports;
        },
      });
    },
  },
];
