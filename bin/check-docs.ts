import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { GROUPS } from '../src/cli/commands.ts';

/** Prints what the documentation names and does not exist: pages, headings, files, npm scripts and commands. */

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const SCRIPTS: unknown = JSON.parse(read('package.json')).scripts;
const isNodeModules = (path: string): boolean => path.includes('node_modules');

const PAGES = globSync(['*.md', 'docs/**/*.md', 'bench/*.md', 'examples/**/*.md', 'clients/*/*.md'], {
  cwd: ROOT,
  exclude: isNodeModules,
});

const namesIn = (page: string, pattern: RegExp): string[] =>
  [...read(page).matchAll(pattern)].map(([, name = '']) => name);

const anchorsOf = (page: string): string[] =>
  namesIn(page, /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );

function* faultsOf(page: string): Generator<string> {
  for (const [, path = '', anchor] of read(page).matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g)) {
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(ROOT, target))) yield `no page ${target}`;
    else if (anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor))
      yield `no heading #${anchor} in ${target}`;
  }
  // The changelog also names what was removed, and decisions of the past what was there.
  if (page === 'CHANGELOG.md' || page.startsWith('docs/decisions/')) return;
  for (const path of namesIn(
    page,
    /`((?:src|test|docs|bin|bench|migrations|deploy|examples)\/(?!node_modules)[\w./*-]*)`/g,
  ))
    if (globSync(path, { cwd: ROOT }).length === 0) yield `no file ${path}`;
  for (const name of namesIn(page, /npm run (?:-s )?([\w:-]+)/g))
    if (!Object.keys(SCRIPTS as object).includes(name)) yield `no script ${name}`;
  for (const name of namesIn(page, /(?:npm run -s roster -- |`roster )([a-z][a-z-]*)/g))
    if (GROUPS[name] === undefined) yield `no command ${name}`;
}

const linked = [...read('README.md').matchAll(/\]\((docs\/[\w-]+\.md)/g)].map(([, path]) => path);
const unlinked = PAGES.filter((page) => /^docs\/[\w-]+\.md$/.test(page) && !linked.includes(page));
const faults = [
  ...PAGES.flatMap((page) => [...faultsOf(page)].map((fault) => `${page}: ${fault}`)),
  ...unlinked.map((page) => `README.md: does not link to ${page}`),
];
for (const fault of faults) process.stdout.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
