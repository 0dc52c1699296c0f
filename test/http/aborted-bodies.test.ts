import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const FORM = 'Content-Type: application/x-www-form-urlencoded';
const JSON_TYPE = 'Content-Type: application/json';
const NDJSON = 'Content-Type: application/x-ndjson';
const PNG = 'Content-Type: image/png';

type Caller = 'nobody' | 'browser' | 'key' | 'operator';

const READERS: readonly (readonly [target: string, type: string, caller: Caller])[] = [
  ['POST /oauth/token', FORM, 'nobody'],
  ['POST /oauth/par', FORM, 'nobody'],
  ['POST /oauth/revoke', FORM, 'nobody'],
  ['POST /oauth/introspect', FORM, 'nobody'],
  ['POST /oauth/introspect', FORM, 'operator'],
  ['POST /oauth/authorize', FORM, 'nobody'],
  ['POST /oauth/logout', FORM, 'nobody'],
  ['POST /oauth/register', JSON_TYPE, 'nobody'],
  ['POST /trpc/auth.signIn', JSON_TYPE, 'browser'],
  ['POST /mcp', JSON_TYPE, 'key'],
  ['POST /security/revoke', JSON_TYPE, 'nobody'],
  ['PUT /pictures/me', PNG, 'browser'],
  ['PUT /pictures/me', JSON_TYPE, 'browser'],
  ['POST /api/v1/teams', JSON_TYPE, 'key'],
  ['POST /operator/v1/imports', NDJSON, 'operator'],
];

/** Sends a part of a body, once the service reads it, and hangs up. */
async function hangUp({ port }: Api, head: readonly string[]): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(`${head.join('\r\n')}\r\nContent-Length: 50\r\nExpect: 100-continue\r\n\r\n`);
  await once(socket, 'data');
  socket.write('{"a":', () => socket.destroy());
}

// Guarantees that it is neither a 503 in the log and the metrics, nor a line about a failure.
test('a body that its client aborts is no failure of the service, whatever reads it', async () => {
  const api = await startApi({ OAUTH_REGISTRATION: 'on' });
  onTestFinished(() => api.close());
  const visitor = await signedIn(api, await api.anAccount());
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] });
  const credentials: Record<Caller, readonly string[]> = {
    nobody: [],
    browser: [`Cookie: ${cookie}`, 'Origin: http://localhost:3000', 'Sec-Fetch-Site: same-origin'],
    key: [`Authorization: Bearer ${key.secret}`],
    operator: [`Authorization: Bearer ${(await api.anOperatorKey()).secret}`],
  };

  const sent = READERS.map(([target, type, caller], i) =>
    hangUp(api, [
      `${target} HTTP/1.1`,
      'Host: localhost:3000',
      type,
      ...credentials[caller],
      `X-Request-Id: gone-${i}`,
    ]),
  );
  await Promise.all(sent);

  const logged = READERS.map(([target, type], i) => () => [
    `${target} ${type}`,
    ...api.lines
      .filter(({ clientRequestId }) => clientRequestId === `gone-${i}`)
      .map(({ level, status }) => [level, status]),
  ]);
  for (const [i, [target, type]] of READERS.entries())
    await expect
      .poll(logged[i] ?? (() => []), { timeout: PATIENCE_MS, interval: 5 })
      .toEqual([`${target} ${type}`, [30, expect.toBeOneOf([400, 408])]]);
});
