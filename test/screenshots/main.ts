import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compareFolders, type Comparison } from './compare.ts';
import { renderIndex } from './index-page.ts';

const HELP = `npm run screenshots -- [options]

Takes pictures of every page of the console in each language and look, and of the same with the sources of
another commit, and compares the pixels. Exits with 1 if a picture differs.

  --against <ref>    the other commit; by default the last release, else the commit before this one
  --only <pattern>   only the pages and languages whose names match this regular expression
  --folder <path>    where the pictures and index.html go; screenshots
  --help
`;

const ROOT = resolve(import.meta.dirname, '../..');
const TEST_NAME = 'pictures of every (state of a page|page in every language)';

const { values: options } = parseArgs({
  options: {
    against: { type: 'string' },
    only: { type: 'string' },
    folder: { type: 'string', default: 'screenshots' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) process.stdout.write(HELP);
else process.exitCode = await main();

async function main(): Promise<number> {
  const ref = options.against ?? findBase();
  const commit = git('rev-parse', '--short', '--verify', `${ref}^{commit}`);
  const folder = resolve(options.folder);
  const [before, after, differences] = ['before', 'after', 'differences'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]; // one for each name
  for (const path of [before, after, differences]) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
  }
  run(ROOT, 'npm', 'run', '-s', 'build');
  takePictures(ROOT, after);
  inWorktree(commit, join(folder, 'worktree'), (tree) => {
    if (!existsSync(join(tree, 'test/screenshots/main.ts'))) {
      process.stderr.write(`${ref} cannot take pictures yet: all are new.\n`);
      return;
    }
    run(tree, 'npm', 'ci', '--no-audit', '--no-fund', '--silent');
    takePictures(tree, before);
  });
  const comparison = await compareFolders(before, after, differences);
  writeFileSync(join(folder, 'index.html'), renderIndex(comparison, `${ref} (${commit})`));
  report(comparison, folder);
  return comparison.changed.length + comparison.added.length + comparison.removed.length === 0 ? 0 : 1;
}

/** The last release that this commit comes from, else its parent. */
function findBase(): string {
  try {
    return git('describe', '--tags', '--abbrev=0', '--match=v[0-9]*', 'HEAD^');
  } catch {
    return 'HEAD^';
  }
}

/** Checks a commit out for as long as a function takes. */
function inWorktree(commit: string, path: string, work: (path: string) => void): void {
  rmSync(path, { recursive: true, force: true });
  git('worktree', 'prune');
  git('worktree', 'add', '--detach', path, commit);
  try {
    work(path);
  } finally {
    git('worktree', 'remove', '--force', path);
  }
}

/** @throws if a picture could not be taken */
function takePictures(tree: string, folder: string): void {
  const vitest = ['bin/run.cjs', 'node_modules/vitest/vitest.mjs', 'run', '--project', 'screenshots'];
  const only = options.only === undefined ? [] : ['-t', `${TEST_NAME}.*(${options.only})`];
  run(tree, process.execPath, ...vitest, '--reporter=default', ...only, { SCREENSHOTS: folder });
}

function run(cwd: string, program: string, ...rest: readonly (string | Readonly<Record<string, string>>)[]): void {
  const args = rest.filter((part) => typeof part === 'string');
  const env = Object.assign({}, process.env, ...rest.filter((part) => typeof part !== 'string')) as NodeJS.ProcessEnv;
  // Output goes to stderr, so that stdout has the result only.
  const { status, error } = spawnSync(program, args, { cwd, env, stdio: ['ignore', 2, 2] });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed in ${cwd}`);
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

function report({ same, changed, added, removed }: Comparison, folder: string): void {
  const lines = [
    ...changed.map(([picture, pixels]) => `changed  ${picture} (${pixels} pixels)`),
    ...added.map((picture) => `new      ${picture}`),
    ...removed.map((picture) => `removed  ${picture}`),
    `${changed.length} changed, ${added.length} new, ${removed.length} removed, ${same.length} the same: ${join(folder, 'index.html')}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
