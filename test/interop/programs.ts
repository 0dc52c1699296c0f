import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const BIN = join(import.meta.dirname, 'node_modules/.bin');

type Finished = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'roster-interop-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a program of the packages of this folder, with the Node.js of the tests, to its end. */
export const program = (
  name: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
) =>
  new Promise<Finished>((resolve) => {
    const { cwd, env } = options;
    const home = temporaryFolder();
    const PATH = [join(process.execPath, '..'), process.env['PATH']].join(':');
    execFile(
      process.execPath,
      [join(BIN, name), ...args],
      { cwd, env: { PATH, HOME: home, ...env }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
  });

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
