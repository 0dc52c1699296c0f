import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from './programs.ts';

const PACKAGE = join(import.meta.dirname, '../../clients/typescript');

test('`npm pack` of the client builds it and contains every file that it exports', async () => {
  const { stdout } = await promisify(execFile)('npm', [
    'pack',
    PACKAGE,
    '--json',
    '--pack-destination',
    temporaryFolder(),
  ]);
  const [{ files }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  for (const name of ['index', 'oauth', 'react', 'trpc'])
    expect(paths).toEqual(expect.arrayContaining([`dist/${name}.js`, `dist/${name}.d.ts`]));
  expect(paths.filter((path) => !/^(dist\/|package\.json|README\.md)/.test(path))).toEqual([]);
});
