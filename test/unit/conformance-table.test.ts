import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

const [TABLE = '', PARTIES = ''] = readFileSync(join(ROOT, 'docs/openid.md'), 'utf8').split('## Relying parties');

/** The exact versions of the npm packages that the tests use. */
const VERSIONS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...['package.json', 'test/interop/package.json'].map((path) => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Record<
      string,
      object
    >;
    return { ...dependencies, ...devDependencies };
  }),
);

// Guarantees that the table is true of the tests as they are, not of those that once were.
test('every requirement of OpenID Connect names tests that exist', () => {
  const rows = TABLE.match(/^\| (?!requirement|---).*$/gm) ?? [];
  expect(rows.length).toBeGreaterThan(20);
  for (const row of rows) {
    const named = [...row.matchAll(/`([\w.-]+\.test\.ts)`((?:,? (?:and )?“[^”]+”)+)/g)];
    expect(named.length, row).toBeGreaterThan(0);
    for (const [, file = '', names = ''] of named) {
      const text = readFileSync(join(ROOT, 'test/oauth', file), 'utf8');
      for (const [, name = ''] of names.matchAll(/“([^”]+)”/g)) expect(text, `${file}: ${name}`).toContain(name);
    }
  }
});

test('every relying party of npm is named with the version that is tested', () => {
  const named = [...PARTIES.matchAll(/`([@\w/-]+)`\)? \| ([\d.]+) \|/gm)];
  expect(named.map(([, name]) => name)).toEqual([
    'openid-client',
    'oauth4webapi',
    '@auth/core',
    'passport-openidconnect',
  ]);
  for (const [, name = '', version] of named) expect(VERSIONS[name], name).toBe(version);
});
