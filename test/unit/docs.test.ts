import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const PAGES = globSync(['*.md', 'docs/**/*.md', 'bench/*.md', 'examples/**/*.md', 'clients/*/*.md'], {
  cwd: ROOT,
  exclude: (path) => path.includes('node_modules'),
});

/** The anchors that a page's headings get. */
const anchorsOf = (page: string): string[] =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replace(/\s/g, '-'),
  );

const linksOf = (page: string) =>
  [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g)].map(([, path = '', anchor]) => ({
    target: path === '' ? page : normalize(join(dirname(page), path)),
    anchor,
  }));

describe('the documentation', () => {
  test('has pages, and links between them', () => {
    expect(PAGES.length).toBeGreaterThan(10);
    expect(PAGES.flatMap(linksOf).length).toBeGreaterThan(20);
  });

  test.each(PAGES)('%s links to pages and headings that exist', (page) => {
    const dead = linksOf(page).filter(
      ({ target, anchor }) =>
        !existsSync(join(ROOT, target)) ||
        (anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor)),
    );
    expect(dead).toEqual([]);
  });

  test.each(PAGES)('%s names files and folders that exist', (page) => {
    const named = [
      ...read(page).matchAll(/`((?:src|test|docs|bin|bench|migrations|deploy|examples)\/(?!node_modules)[\w./*-]*)`/g),
    ];
    const missing = named.map(([, path = '']) => path).filter((path) => globSync(path, { cwd: ROOT }).length === 0);
    expect(missing).toEqual([]);
  });

  // The changelog also names what was removed.
  test.each(PAGES.filter((page) => page !== 'CHANGELOG.md'))(
    '%s names npm scripts and roster commands that exist',
    (page) => {
      const scripts = Object.keys(JSON.parse(read('package.json')).scripts);
      const groups = [...read('src/cli/main.ts').matchAll(/^ {2}'?([a-z-]+)'?: \[/gm)].map(([, name]) => name);
      const text = read(page);
      const unknownScripts = [...text.matchAll(/npm run (?:-s )?([\w:-]+)/g)]
        .map(([, name = '']) => name)
        .filter((name) => !scripts.includes(name));
      const unknownCommands = [...text.matchAll(/(?:npm run -s roster -- |`roster )([a-z][a-z-]*)/g)]
        .map(([, name = '']) => name)
        .filter((name) => !groups.includes(name));
      expect(groups.length).toBeGreaterThan(10);
      expect([...unknownScripts, ...unknownCommands]).toEqual([]);
    },
  );
});
