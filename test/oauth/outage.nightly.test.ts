import { expect, onTestFinished } from 'vitest';
import { startProxy } from '../jobs/proxy.ts';
import { startApi, test } from '../support/api.ts';
import { aCode, exchange, post, refresh, someTokens } from './flow.ts';
import { isRevoked, grantOf, outcome } from './token-endpoint.ts';

// Guarantees that an outage differs from a rejection, after which a client would discard its tokens.
test('without its database every endpoint asks to come again', async ({ api }) => {
  const url = new URL(api.databaseUrl);
  const proxy = await startProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  const cuttable = await startApi({}, { databaseUrl: url.href });
  onTestFinished(async () => {
    await cuttable.close();
    await proxy.cut();
  });
  const client = await api.anOAuthClient({ confidential: true });
  const given = await aCode(api, { client });
  const { tokens, ...chain } = await someTokens(api);
  await proxy.cut();

  const answers = await Promise.all([
    exchange(cuttable, given),
    post(cuttable, '/oauth/token', client, {
      grant_type: 'authorization_code',
      code: given.code,
      code_verifier: given.verifier,
      redirect_uri: client.redirectUri,
    }),
    refresh(cuttable, chain.client, tokens.refresh),
    post(cuttable, '/oauth/revoke', chain.client, { token: tokens.refresh }),
    post(cuttable, '/oauth/introspect', client, { token: tokens.access }),
    post(cuttable, '/oauth/par', client, { response_type: 'code' }),
  ]);
  await proxy.mend();

  for (const { status, body, headers } of answers) {
    expect([status, body.error]).toEqual([503, 'temporarily_unavailable']);
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(headers['retry-after']).toBe('1');
    expect(headers['cache-control']).toBe('no-store');
  }
  expect(await isRevoked(api, await grantOf(api, chain.client))).toBe(false);
  expect(outcome(await refresh(cuttable, chain.client, tokens.refresh))).toBe('200');
  expect(outcome(await exchange(cuttable, given))).toBe('200');
  expect(cuttable.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
