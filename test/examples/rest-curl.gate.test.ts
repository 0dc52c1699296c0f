import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { test } from '../support/api.ts';

const TOUR = join(import.meta.dirname, '../../examples/rest-curl/tour.sh');

test('the curl tour runs to its end and prints no secret', async ({ api }) => {
  const account = await api.anAccount();
  const { secret } = await api.anApiKey(account, { scopes: SCOPES });
  const { stdout } = await promisify(execFile)(TOUR, {
    env: { ...process.env, ROSTER_URL: `http://127.0.0.1:${api.port}`, ROSTER_KEY: secret },
  });
  expect(stdout.match(/^ {2}\d{3} /gm)).toEqual(
    [200, 201, 200, 200, 201, 200, 201, 200, 400, 403, 200, 401].map((status) => `  ${status} `),
  );
  expect(stdout).toContain('"code":"scope_missing"');
  expect(stdout).not.toMatch(/rst_[a-z]+_[0-9A-Za-z]{40}/);
});
