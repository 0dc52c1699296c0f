import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { OLDEST_NODE } from '../examples/programs.ts';

const BIN = join(import.meta.dirname, 'node_modules/.bin');

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'roster-interop-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

type Options = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> };

/** Starts a program of the packages of this folder, with the Node.js of the tests. It ends with the test. */
export const startProgram = (name: string, args: readonly string[], options?: Options) =>
  startNode([join(BIN, name), ...args], options);

/** Starts commands of a README in a shell, which ends with the first one that fails. They end with the test. */
export const startCommand = (commands: string, options?: Options) =>
  start('bash', ['-euo', 'pipefail', '-c', commands], { ...options, node: OLDEST_NODE });

/** Runs commands of a README to their end, with the oldest Node.js of this machine, as users can have it. */
export async function runCommand(commands: string, options?: Options) {
  const { printed, ended } = startCommand(commands, options);
  const code = await ended;
  return { code, ...printed };
}

const startNode = (args: readonly string[], options?: Options) => start(process.execPath, args, options);

function start(
  command: string,
  args: readonly string[],
  { cwd, env, node = process.execPath }: Options & { readonly node?: string } = {},
) {
  const home = env?.['HOME'] ?? temporaryFolder();
  const PATH = [join(node, '..'), process.env['PATH']].join(':');
  // In a group of its own, so that what it starts itself ends with it.
  const child = spawn(command, args, { cwd, env: { PATH, HOME: home, ...env }, detached: true });
  const ended = once(child, 'close').then(([code]) => Number(code));
  onTestFinished(async () => {
    killGroup(child.pid);
    await ended;
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (printed.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (printed.stderr += chunk.toString()));
  return {
    printed,
    /** Resolves to the first match in what it prints, or rejects when it has ended without. */
    prints: async (pattern: RegExp): Promise<RegExpExecArray> => {
      for (;;) {
        const match = pattern.exec(printed.stdout) ?? pattern.exec(printed.stderr);
        if (match !== null) return match;
        const next = Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), ended]);
        if (typeof (await next) === 'number') {
          const last = pattern.exec(printed.stdout) ?? pattern.exec(printed.stderr);
          if (last !== null) return last;
          throw new Error(`${args[0]} ended without ${pattern}: ${printed.stdout}${printed.stderr}`);
        }
      }
    },
    /** Resolves to the exit code. */
    ended,
  };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Runs a program of the packages of this folder to its end. */
export const program = (name: string, args: readonly string[], options?: Options) =>
  run([join(BIN, name), ...args], options);

/** Runs the Node.js of the service with these arguments to its end. */
export const run = (args: readonly string[], options?: Options) => runProgram(process.execPath, args, options);

/** Runs a program to its end. */
export async function runProgram(command: string, args: readonly string[], options?: Options) {
  const { printed, ended } = start(command, args, options);
  const code = await ended;
  return { code, ...printed };
}

/** A proxy that adds a credential and passes everything else on, for clients that cannot send one. */
export async function bearerProxy() {
  let target = { port: 0, credential: '' };
  const server = createServer((req, res) => {
    const { method, url: path, headers } = req;
    const authorization = `Bearer ${target.credential}`;
    const upstream = request(
      { host: '127.0.0.1', port: target.port, method, path, headers: { ...headers, authorization } },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      },
    );
    upstream.on('error', () => res.destroy());
    res.on('close', () => upstream.destroy());
    req.pipe(upstream);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // listening on TCP
    forwardTo: (port: number, credential: string) => void (target = { port, credential }),
  };
}
