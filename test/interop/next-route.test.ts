import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { installPackedClient } from '../clients/packed-client.ts';
import { exampleFile } from '../examples/programs.ts';
import { startApiAtItsAddress, testWith } from '../support/api.ts';
import { freePort } from '../support/free-port.ts';
import { startProgram, temporaryFolder } from './programs.ts';

const test = testWith(() => startApiAtItsAddress());

test('a route handler of Next answers members of the team, and no one else, from the next request on', async ({
  api,
}) => {
  const cwd = temporaryFolder();
  await installPackedClient(cwd, ['next', 'react', 'react-dom']);
  cpSync(exampleFile('express-api', 'roster.mjs'), join(cwd, 'roster.mjs'));
  cpSync(exampleFile('express-api', 'next-route.mjs'), join(cwd, 'app/teams/[teamId]/report/route.js'));
  const port = await freePort();
  // With webpack, because the other bundler reads no packages outside of the folder.
  const next = startProgram('next', ['dev', '--webpack', '-H', '127.0.0.1', '-p', String(port)], {
    cwd,
    env: {
      NEXT_TELEMETRY_DISABLED: '1',
      ROSTER_URL: api.services.config.baseUrl,
      ROSTER_OPERATOR_KEY: (await api.anOperatorKey({ scopes: ['credentials:verify'] })).secret,
    },
  });
  await next.prints(/Ready in/);

  const [owner, stranger] = [await api.anAccount(), await api.anAccount()];
  const team = await api.aTeam({ owner, name: 'Engines' });
  const [key, foreign] = [await api.anApiKey(owner), await api.anApiKey(stranger)];
  const ask = (secret: string) =>
    fetch(`http://127.0.0.1:${port}/teams/${team.id}/report`, { headers: { authorization: `Bearer ${secret}` } });

  expect(await (await ask(key.secret)).json()).toEqual({ report: 'Everything is fine in Engines.', role: 'owner' });
  expect((await ask(foreign.secret)).status).toBe(404);
  expect((await ask('rst_pk_x')).headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
  await api.rows('update api_key set revoked_at = now() where id = $1', [key.id]);
  expect((await ask(key.secret)).status).toBe(401);
});
