import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const WRAPPER = fileURLToPath(new URL('../../bin/run.cjs', import.meta.url));
// Ends the service with the tests, also where they are killed and cannot end it themselves.
const LIFE_LINE = `data:text/javascript,process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume().unref()`;

const NO_EXECVE = 'data:text/javascript,delete process.execve';

const POLL_MS = 10;
const START_MS_MAX = 120_000;
/** A server whose files are damaged is stopped at once after 20 s. */
const SERVER_STOP_MS_MAX = 45_000;

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

type ServiceOptions = {
  /** Settings; of the environment of the tests nothing but PATH and HOME is handed on. */
  env?: Readonly<Record<string, string>>;
  dataDir: string;
  /** Starts it through `bin/run.cjs` on a Node.js that cannot become it; `kill` and `pid` then concern that process. */
  isWrapped?: boolean;
  /** How many files it can have open. */
  maxFiles?: number;
};

export type Service = Awaited<ReturnType<typeof startService>>;

/** The real thing: `src/main.ts` in a process of its own, which ends with the tests. It need not become ready. */
export function launchService({ env = {}, dataDir, isWrapped = false, maxFiles }: ServiceOptions) {
  const { PATH = '', HOME = '' } = process.env;
  const node = [process.execPath, '--import', LIFE_LINE, ...(isWrapped ? ['--import', NO_EXECVE, WRAPPER] : []), MAIN];
  const [program = '', ...args] =
    maxFiles === undefined ? node : ['/bin/sh', '-c', `ulimit -n ${maxFiles} && exec "$@"`, 'sh', ...node];
  const child = spawn(program, args, {
    env: { PATH, HOME, DATA_DIR: dataDir, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const killChild = () => void child.kill('SIGKILL');
  process.once('exit', killChild);
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const exited = once(child, 'close').then(([code, signal]): Exit => {
    process.off('exit', killChild);
    return { code, signal };
  });

  return {
    pid: child.pid ?? 0,
    /** What it has printed to stdout, a line each. */
    lines,
    /** What it has printed to stderr. */
    complaint: () => complaint,
    kill: (signal: NodeJS.Signals = 'SIGTERM') => void child.kill(signal),
    /** Resolves when it has ended and all it printed has arrived. */
    exited,
  };
}

/** Starts the service on a free port, unless PORT is given, and waits until it is ready. */
export async function startService({ env = {}, ...options }: ServiceOptions) {
  // Between the choice and the start, another process may take the port.
  for (let attemptsLeft = 3; ; attemptsLeft -= 1) {
    const port = Number(env['PORT'] ?? (await freePort()));
    const startedAt = performance.now();
    const service = launchService({ ...options, env: { ...env, PORT: String(port) } });
    if (await becomesReady(port, service.exited)) {
      return { ...service, port, url: `http://127.0.0.1:${port}`, startMs: performance.now() - startedAt };
    }
    service.kill('SIGKILL');
    await service.exited;
    if (attemptsLeft === 1 || !service.complaint().includes('EADDRINUSE')) {
      throw new Error(
        `The service did not become ready:\n${service.complaint()}${service.lines.slice(-20).join('\n')}`,
      );
    }
  }
}

async function becomesReady(port: number, exited: Promise<Exit>): Promise<boolean> {
  let hasExited = false;
  void exited.then(() => (hasExited = true));
  for (const deadline = Date.now() + START_MS_MAX; Date.now() < deadline && !hasExited; await sleep(POLL_MS)) {
    const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (answer) => answer.body?.cancel().then(() => answer.status),
      () => undefined,
    );
    if (status === 200) return true;
  }
  return false;
}

// A first start writes some thousand files; the memory file system, where there is room, keeps the disk out of the tests.
const TEMPORARY = existsSync('/dev/shm') && roomIn('/dev/shm') > 1e9 ? '/dev/shm' : tmpdir();

function roomIn(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** A data directory that the account of the embedded server may enter, also when root runs the tests. */
export function makeDataDir(): string {
  const directory = realpathSync(mkdtempSync(join(TEMPORARY, 'roster-service-')));
  chmodSync(directory, 0o755);
  return directory;
}

/** Waits until the embedded server has ended. A crashed one leaves its postmaster.pid, which is removed. */
export async function serverEnded(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, 'postgres', 'data', 'postmaster.pid');
  const isRunning = () =>
    statSync(pidFile, { throwIfNoEntry: false })?.isFile() === true &&
    existsSync(`/proc/${Number.parseInt(readFileSync(pidFile, 'utf8'))}`);
  for (const deadline = Date.now() + SERVER_STOP_MS_MAX; isRunning(); await sleep(POLL_MS))
    if (Date.now() > deadline) throw new Error('The embedded server does not stop.');
  rmSync(pidFile, { recursive: true, force: true });
}

/** Removes a data directory once the embedded server in it, which ends with the last service, is gone. */
export async function removeDataDir(dataDir: string): Promise<void> {
  const location = join(dataDir, 'postgres');
  const home = existsSync(location) ? realpathSync(location) : location;
  const pidFile = join(home, 'data', 'postmaster.pid');
  for (const deadline = Date.now() + SERVER_STOP_MS_MAX; existsSync(pidFile); await sleep(POLL_MS)) {
    if (Date.now() > deadline)
      throw new Error(`A server is left behind: ${readFileSync(pidFile, 'utf8').split('\n')[0]}`);
  }
  rmSync(home, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
