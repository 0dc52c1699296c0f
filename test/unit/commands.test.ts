import { globSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import config from '../../vitest.config.ts';

type Project = { readonly test: { readonly name: string; readonly include?: string[]; readonly exclude?: string[] } };

const projects = new Map(
  ((config as { test: { projects: Project[] } }).test.projects ?? []).map(({ test: suite }) => [suite.name, suite]),
);

// Guarantees that no script names a test file in a project that does not contain it, and so tests nothing.
test('each test file that a script runs is in the project that it names', () => {
  const scripts = ['package.json', '.ci/run', ...globSync('{.github/workflows/*.yml,test/**/*.sh,bin/*.cjs}')];
  const named = scripts.flatMap((path) => [
    ...readFileSync(path, 'utf8').matchAll(/--project (?<project>\w+) (?<file>test\/\S+\.test\.ts)/g),
  ]);
  expect(named.length).toBeGreaterThan(0);
  for (const { groups: { project = '', file = '' } = {} } of named) {
    const { include = [], exclude = [] } = projects.get(project) ?? {};
    const isIn = (patterns: readonly string[]) => patterns.some((pattern) => matchesGlob(file, pattern));
    expect([file, project, isIn(include) && !isIn(exclude)]).toEqual([file, project, true]);
  }
});
