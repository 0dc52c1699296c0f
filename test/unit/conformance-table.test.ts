import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

// Guarantees that the table is true of the tests as they are, not of those that once were.
test('every requirement of OpenID Connect names tests that exist', () => {
  const rows = readFileSync(join(ROOT, 'docs/openid.md'), 'utf8').match(/^\| (?!requirement|---).*$/gm) ?? [];
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
