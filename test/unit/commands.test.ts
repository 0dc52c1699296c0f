import { globSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import config from '../../vitest.config.ts';

type Project = { readonly test: { readonly name: string; readonly include?: string[]; readonly exclude?: string[] } };

const projects = new Map(
  ((config as { test: { projects: Project[] } }).test.projects ?? []).map(({ test: suite }) => [suite.name, suite]),
);

const isIn = (file: string, project: string): boolean => {
  const { include = [], exclude = [] } = projects.get(project) ?? {};
  const matches = (patterns: readonly string[]) => patterns.some((pattern) => matchesGlob(file, pattern));
  return matches(include) && !matches(exclude);
};

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const projectsIn = (text: string): string[] => [...text.matchAll(/--project (\S+)/g)].map(([, name = '']) => name);

// Guarantees that no script names a test file in a project that does not contain it, and so tests nothing.
test('each test file that a script runs is in the project that it names', () => {
  const paths = ['package.json', '.ci/run', ...globSync('{.github/workflows/*.yml,test/**/*.sh,bin/*.cjs}')];
  const named = paths.flatMap((path) => [
    ...readFileSync(path, 'utf8').matchAll(/--project (?<project>\w+) (?<file>test\/\S+\.test\.ts)/g),
  ]);
  expect(named.length).toBeGreaterThan(0);
  for (const { groups: { project = '', file = '' } = {} } of named)
    expect([file, project, isIn(file, project)]).toEqual([file, project, true]);
});

// Guarantees that no test is run nowhere, whichever suite it is moved to.
test('each test file is in a suite of the gate or of a night', () => {
  const suites = /suite: \[(.*)\]/.exec(readFileSync('.github/workflows/nightly.yml', 'utf8'))?.[1]?.split(', ') ?? [];
  const shipping = globSync('test/shipping/*.sh').map((path) => readFileSync(path, 'utf8'));
  const nightly = suites.map((suite) => scripts[`test:${suite}`] ?? '');
  // Pictures have a workflow of their own.
  const run = ['screenshots', ...[scripts['test'] ?? '', ...nightly, ...shipping].flatMap(projectsIn)];
  const files = globSync('test/**/*.test.ts', { exclude: (path) => path.endsWith('node_modules') });

  expect(nightly).not.toContain('');
  expect(files.filter((file) => !run.some((project) => isIn(file, project)))).toEqual([]);
});

test('test:all runs every suite but those that it is said to leave out', () => {
  const left = [...projects.keys()].filter((name) => !projectsIn(scripts['test:all'] ?? '').includes(name));

  expect(left).toEqual(['compose', 'soak', 'screenshots']);
});
