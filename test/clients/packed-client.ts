import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
/** What only the tests of clients need is installed by `npm run test:interop`. */
const INSTALLED = ['node_modules', 'test/interop/node_modules'].map((path) => join(ROOT, path));
const PACKAGE = join(ROOT, 'clients/typescript');

export const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/**
 * Makes a folder the project of somebody else: `npm pack` of the client is installed in it, and nothing of the server.
 * @param peers packages that the project has beside it
 * @returns where the client is installed
 */
export async function installPackedClient(dir: string, peers: readonly string[]): Promise<string> {
  const staging = join(dir, 'staging');
  await run(process.execPath, [TSC, '-p', PACKAGE, '--outDir', join(staging, 'dist')]);
  for (const file of ['package.json', 'README.md']) cpSync(join(PACKAGE, file), join(staging, file));
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', dir], {
    cwd: staging,
  });
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  const installed = join(dir, 'node_modules/@roster/client');
  mkdirSync(installed, { recursive: true });
  await run('tar', ['xzf', join(dir, packed?.filename ?? ''), '-C', installed, '--strip-components', '1']);
  for (const name of peers) {
    mkdirSync(dirname(join(dir, 'node_modules', name)), { recursive: true });
    const from = INSTALLED.find((folder) => existsSync(join(folder, name, 'package.json')));
    if (from === undefined) throw new Error(`${name} is not installed.`);
    symlinkSync(join(from, name), join(dir, 'node_modules', name));
  }
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ type: 'module' }));
  return installed;
}
