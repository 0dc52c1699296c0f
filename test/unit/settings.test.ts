import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VARIABLES } from '../../src/config/config.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

describe('the documents of settings and metrics', () => {
  test('describes every variable of the configuration, and no other', () => {
    const [, rows = ''] = read('docs/configuration.md').split('\n| variable |');
    const documented = rows
      .split('\n')
      .flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name));

    expect(documented.toSorted()).toEqual(VARIABLES.toSorted());
  });

  test('has an example environment of variables that exist', () => {
    const named = [...read('.env.example').matchAll(/^#? ?([A-Z_]+)=/gm)].map(([, name = '']) => name);

    expect(named).toContain('DATABASE_URL');
    expect(named.filter((name) => !VARIABLES.includes(name) && name !== 'POSTGRES_PASSWORD')).toEqual([]);
  });

  test('lists the metrics there are', () => {
    const named = (text: string) =>
      [...new Set(text.match(/`roster_\w+`|'roster_\w+'/g)?.map((name) => name.slice(1, -1)))].toSorted();

    const declared = read('src/telemetry/metrics.ts') + read('src/telemetry/database-gauges.ts');
    expect(named(read('docs/operations.md'))).toEqual(named(declared));
  });
});
