import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

export type TestRedis = {
  url: string;
  port: number;
  pid: number;
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
};

export const hasRedis: boolean = spawnSync('redis-server', ['--version']).status === 0;

if (!hasRedis) {
  const advice = 'redis-server is not on PATH (apt-get install redis-server, brew install redis)';
  if (process.env['CI'] !== undefined) throw new Error(`${advice}; under CI no suite is skipped.`);
  process.stderr.write(`\n*** SKIPPED: the tests that need Redis. ${advice} ***\n\n`);
}

type RedisOptions = {
  port?: number;
  args?: readonly string[];
  /** Makes it a Sentinel with these lines of configuration. */
  sentinel?: readonly string[];
};

/** A throw-away server on a loopback port, which keeps nothing and dies with this process. */
export async function startRedis(options: RedisOptions = {}): Promise<TestRedis> {
  // Between the choice and the start, another process may take the port.
  for (let attemptsLeft = 5; ; attemptsLeft -= 1) {
    try {
      return await launch(options.port ?? (await lowPort()), options);
    } catch (error) {
      if (attemptsLeft === 1) throw error;
    }
  }
}

async function launch(port: number, { args = [], sentinel }: RedisOptions): Promise<TestRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'roster-redis-'));
  const persistence = ['--save', '', '--appendonly', 'no', '--dir', directory];
  // A Sentinel rewrites its file, and needs one.
  const file = join(directory, 'sentinel.conf');
  if (sentinel !== undefined) await writeFile(file, sentinel.map((line) => `sentinel ${line}\n`).join(''));
  const own = sentinel === undefined ? persistence : [];
  const mode = sentinel === undefined ? [] : [file, '--sentinel'];
  const server = spawn('redis-server', [...mode, '--port', `${port}`, '--bind', '127.0.0.1', ...own, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const killServer = (): boolean => server.kill('SIGKILL');
  process.once('exit', killServer);
  const exited = once(server, 'exit').then(async () => {
    process.off('exit', killServer);
    await rm(directory, { recursive: true, force: true });
  });

  let output = '';
  const ready = new Promise<void>((resolve) => {
    server.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (/Ready to accept connections|Sentinel ID is/.test(output)) resolve();
    });
  });
  const failed = exited.then(() => {
    throw new Error(`redis-server did not start:\n${output}`);
  });
  await Promise.race([ready, failed]);
  failed.catch(() => {});

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: server.pid ?? 0,
    kill: (signal) => void server.kill(signal),
    async stop() {
      killServer();
      await exited;
    },
  };
}

/** The nodes of a cluster also listen 10,000 above their port. */
async function lowPort(): Promise<number> {
  const port = await freePort();
  return port > 55_000 ? lowPort() : port;
}

/** What redis-cli, which comes with the server, prints for a command. */
export function redisCli(port: number, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('redis-cli', ['-p', `${port}`, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`redis-cli ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}
