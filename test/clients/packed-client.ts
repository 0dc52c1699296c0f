import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
/** What only the tests of clients need is installed by `npm run test:interop`. */
const INSTALLED = ['node_modules', 'test/interop/node_modules'].map((path) => join(ROOT, path));

export const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** Builds and packs the client, as `npm ci` does for the service. @param folder by default that of the service */
export const packClient = (...folder: string[]) =>
  run(process.execPath, [join(ROOT, 'bin/build-client.cjs'), ...folder]);

/**
 * Makes a folder the project of somebody else: what the service serves as its client is installed in it, and nothing of the server.
 * @param peers packages that the project has beside it
 * @returns where the client is installed
 */
export async function installPackedClient(dir: string, peers: readonly string[]): Promise<string> {
  const packed = join(dir, 'packed/typescript.tgz');
  await packClient(dirname(packed));
  const installed = join(dir, 'node_modules/@roster/client');
  mkdirSync(installed, { recursive: true });
  await run('tar', ['xzf', packed, '-C', installed, '--strip-components', '1']);
  for (const name of peers) {
    mkdirSync(dirname(join(dir, 'node_modules', name)), { recursive: true });
    const from = INSTALLED.find((folder) => existsSync(join(folder, name, 'package.json')));
    if (from === undefined) throw new Error(`${name} is not installed.`);
    symlinkSync(join(from, name), join(dir, 'node_modules', name));
  }
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ type: 'module' }));
  return installed;
}
