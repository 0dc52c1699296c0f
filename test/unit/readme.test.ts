import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

describe('the README', () => {
  test('says what every variable of the configuration means', () => {
    const [, rows = ''] = read('README.md').split('\n| variable |');
    const variables = [...read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name = '']) => name);

    expect(variables.length).toBeGreaterThan(40);
    expect(variables.filter((name) => !rows.split('\n## ', 1)[0]?.includes(`\`${name}\``))).toEqual([]);
  });

  test('lists the metrics there are', () => {
    const named = (text: string) =>
      [...new Set(text.match(/`roster_\w+`|'roster_\w+'/g)?.map((name) => name.slice(1, -1)))].toSorted();

    expect(named(read('README.md'))).toEqual(named(read('src/telemetry/metrics.ts')));
  });
});
