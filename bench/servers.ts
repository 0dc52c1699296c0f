import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../test/support/free-port.ts';

export const SERVER_KINDS = ['hand-written', 'equal', 'roster', 'better-auth'] as const;
export type ServerKind = (typeof SERVER_KINDS)[number];

const MAIN: Readonly<Record<ServerKind, string>> = {
  roster: '../src/main.ts',
  'hand-written': './baselines/hand-written.ts',
  equal: './baselines/hand-written.ts',
  'better-auth': './baselines/better-auth.ts',
};
/** As in `npm start` of each. */
const NODE_OPTIONS: Readonly<Record<ServerKind, readonly string[]>> = {
  roster: ['--max-semi-space-size=16'],
  'hand-written': [],
  equal: [],
  'better-auth': [],
};

/** As `bin/run.cjs` sets it, and the image. */
const ALLOCATOR = createRequire(import.meta.url)('../bin/allocator.cjs') as Record<string, string>; // its exports

const SETTINGS: Readonly<Record<ServerKind, Record<string, string>>> = {
  roster: ALLOCATOR,
  'hand-written': {},
  equal: { GUARANTEES: 'equal' },
  'better-auth': {},
};

// Ends a server with the benchmark, also where that is killed. Answers each line with the longest delay of the event loop
// since the line before, in milliseconds.
const LIFE_LINE = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { monitorEventLoopDelay } from 'node:perf_hooks';
  const delays = monitorEventLoopDelay({ resolution: 2 });
  process.stdin.on('data', () => {
    writeSync(3, String(delays.enable() ? 0 : delays.max / 1e6 - 2) + '\\n');
    delays.reset();
  }).on('end', () => process.kill(process.pid, 'SIGKILL')).unref();
`)}`;
const START_MS_MAX = 30_000;

/** A server under test, in a process of its own. */
export type Server = {
  readonly url: string;
  readonly pid: number;
  readonly databaseUrl: string;
  /** The longest delay of the event loop since the last call, in milliseconds; 0 for the first. */
  longestDelay(): Promise<number>;
  stop(): Promise<void>;
};

export type Backing = { readonly databaseUrl: string; readonly redisUrl: string; readonly dataDir: string };

export const SECRET_KEYS = 'p7Wv0TqLr2Yd8KxB4nZs6GhJ1cMf3EaU';

/** The settings of all servers. The rate limit is on and counts, but is never reached. */
export const environmentOf = ({ databaseUrl, redisUrl, dataDir }: Backing, port: number): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '',
  NODE_ENV: 'production',
  PORT: String(port),
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  RATE_LIMIT: '1000000000',
  OPERATOR_VERIFY_LIMIT: '1000000000',
  LOG_LEVEL: 'info',
  DATA_DIR: dataDir,
  SECRET_KEYS,
  ...(process.env['BETTER_AUTH_KEYS'] !== undefined && { BETTER_AUTH_KEYS: process.env['BETTER_AUTH_KEYS'] }),
});

/** Starts a server on a free port of loopback and waits until it answers. `core` is where it may run. */
export async function startServer(
  kind: ServerKind,
  backing: Backing,
  core: number | undefined,
  settings: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const port = await freePort();
  const main = fileURLToPath(new URL(MAIN[kind], import.meta.url));
  const command = [process.execPath, ...NODE_OPTIONS[kind], '--import', LIFE_LINE, main];
  if (core !== undefined) command.unshift('taskset', '--cpu-list', String(core));
  const [program = '', ...args] = command;
  // Log lines are written, and go nowhere: the disk is not what is measured.
  const child = spawn(program, args, {
    env: { ...environmentOf(backing, port), ...SETTINGS[kind], ...settings },
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  });
  const [stdin, , stderr, delays] = child.stdio as unknown as [Writable, null, Readable, Readable]; // as `stdio` says
  let complaint = '';
  stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-4000)));
  const exited = once(child, 'close');
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);

  const url = `http://127.0.0.1:${port}`;
  for (const deadline = Date.now() + START_MS_MAX; !(await isReady(url)); await sleep(20)) {
    if (child.exitCode === null && Date.now() < deadline) continue;
    kill();
    throw new Error(`The server ${kind} does not start:\n${complaint}`);
  }
  return {
    url,
    pid: child.pid ?? 0,
    databaseUrl: backing.databaseUrl,
    async longestDelay() {
      stdin.write('\n');
      const [line] = (await once(delays, 'data')) as [Buffer];
      return Number(line.toString());
    },
    async stop() {
      process.off('exit', kill);
      kill();
      await exited;
    },
  };
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    (answer) => answer.body?.cancel().then(() => answer.ok) ?? answer.ok,
    () => false,
  );
