import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test as plain } from 'vitest';
import { packClient } from '../clients/packed-client.ts';
import { startApiAtItsAddress, testWith } from '../support/api.ts';
import { temporaryFolder } from './programs.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'clients/typescript');
const test = testWith(() => startApiAtItsAddress());

// As `npm ci` does, before the service reads it.
beforeAll(() => packClient());

plain('`npm pack` of the client builds it and contains every file that it exports', async () => {
  const { stdout } = await run('npm', ['pack', PACKAGE, '--json', '--pack-destination', temporaryFolder()]);
  const [{ files }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  for (const name of ['index', 'oauth', 'react', 'trpc'])
    expect(paths).toEqual(expect.arrayContaining([`dist/${name}.js`, `dist/${name}.d.ts`]));
  expect(paths.filter((path) => !/^(dist\/|package\.json|README\.md)/.test(path))).toEqual([]);
});

test('`npm install` of the URL of a service installs the client of its version, without a registry', async ({
  api,
}) => {
  const { baseUrl } = api.services.config;
  const cwd = temporaryFolder();
  const noRegistry = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0', npm_config_audit: '' };
  const env = { PATH: process.env['PATH'], HOME: cwd, ...noRegistry };
  writeFileSync(join(cwd, 'package.json'), '{"type":"module"}');
  await run('npm', ['install', `${baseUrl}/clients/typescript.tgz`], { cwd, env });

  const version = (folder: string) =>
    (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
  expect(version(join(cwd, 'node_modules/@roster/client'))).toBe(version(ROOT));
  const { secret } = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] });
  writeFileSync(
    join(cwd, 'main.js'),
    `import { createRoster } from '@roster/client';
    const { name } = await createRoster({ baseUrl: '${baseUrl}', credential: '${secret}' }).createTeam({ name: 'Engines' });
    console.log(name);`,
  );
  expect((await run('node', [join(cwd, 'main.js')])).stdout).toBe('Engines\n');
  await run('npm', ['ci'], { cwd, env });
  expect(existsSync(join(cwd, 'node_modules/@roster/client/dist/index.js'))).toBe(true);
});
