import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { approveAt } from '../oauth/visit.ts';
import { startApiAtItsAddress, testWith } from '../support/api.ts';
import { freePort } from '../support/free-port.ts';
import { startProgram, temporaryFolder } from './programs.ts';

const test = testWith(() => startApiAtItsAddress({ OAUTH_CLIENT_DOCUMENTS: 'on' }));

// Both scenarios of the suite for authorization servers apply. Not applicable: its scenarios `auth/…`, which test clients,
// and confidential clients, to which it gives no secret where the server has public clients too.
test('the conformance suite for authorization servers passes', async ({ api }) => {
  const { baseUrl } = api.services.config;
  const port = await freePort();
  const client = await api.anOAuthClient({ native: true, redirectUri: `http://127.0.0.1:${port}/callback` });
  const folder = temporaryFolder();
  const target = ['--url', baseUrl, '--resource', `${baseUrl}/mcp`, '--client-id', client.id];
  const suite = startProgram('conformance', ['authorization', ...target, '--port', String(port), '-o', folder]);
  const [url] = await suite.prints(/http:\S+\/oauth\/authorize\?\S+/);
  await fetch(await approveAt(api, new URL(url)));
  await suite.ended;

  const checks = globSync('**/checks.json', { cwd: folder }).flatMap(
    (path) => JSON.parse(readFileSync(join(folder, path), 'utf8')) as { id: string; status: string }[],
  );
  expect(checks.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
  expect(checks.map(({ id }) => id).toSorted()).toEqual([
    'authorization-code-grant',
    'authorization-server-metadata',
    'authorization-server-metadata-cimd',
  ]);
});
