import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Installs what only the benchmark needs, once, from its own lock file. */
export function installPackages(): void {
  if (existsSync(new URL('./node_modules/.package-lock.json', import.meta.url))) return;
  process.stderr.write('installing the packages of the benchmark\n');
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: import.meta.dirname,
    // stdout is for the table.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error('npm could not install the packages in bench/.');
}
