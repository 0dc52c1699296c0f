import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { getClusterPath, readPassword, programEnvironment } from './cluster.ts';
import { login } from './login.ts';
import { freePort, type LaunchOptions, logPath, recordedServer, type Started } from './server.ts';

/**
 * Starts or joins the server on Windows, which has no FIFOs. The process that started the server stops it with
 * close(), even if others use it. After a crash the server keeps running, and the next start joins it.
 */
export async function startOnWindows(options: LaunchOptions): Promise<Started> {
  const running = await runningServer(options);
  if (running) return { port: running, close: async () => {} };

  // pg_ctl drops administrator rights, because the server does not start with them.
  const { home, flags } = options;
  const settings = [
    `port=${await freePort()}`,
    'listen_addresses=127.0.0.1',
    'log_min_messages=log',
    'log_checkpoints=off',
    ...flags,
  ];
  const isOurs = await control(
    options,
    'start',
    '-l',
    logPath(home),
    '-o',
    settings.map((setting) => `-c ${setting}`).join(' '),
  );
  const port = await runningServer(options);
  if (!port) throw new Error(`The embedded PostgreSQL does not start: see ${logPath(home)}.`);
  return { port, close: async () => void (isOurs && (await control(options, 'stop', '-m', 'fast'))) };
}

async function runningServer({ home }: LaunchOptions): Promise<number | undefined> {
  const server = recordedServer(getClusterPath(home));
  if (!server?.isReady) return undefined;
  const lifeLine = await login({ port: server.port, password: readPassword(home) });
  return lifeLine === undefined ? undefined : server.port;
}

async function control(
  { home, programs }: LaunchOptions,
  command: string,
  ...args: readonly string[]
): Promise<boolean> {
  const child = spawn(join(programs, 'bin', 'pg_ctl'), [command, '-w', '-D', getClusterPath(home), ...args], {
    env: programEnvironment(),
    stdio: 'ignore',
    detached: true,
    windowsHide: true,
  });
  const [status] = await once(child, 'exit');
  return status === 0;
}
