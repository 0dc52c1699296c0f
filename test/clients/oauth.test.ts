import { describe, expect } from 'vitest';
import { createRoster } from '../../clients/typescript/src/index.ts';
import { createOAuth, type OAuthTokens } from '../../clients/typescript/src/oauth.ts';
import { approveAt, denyAt } from '../oauth/visit.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';

const test = testWith(() => startApiAtItsAddress());

/** A client, and a count of the requests that it sends to the token endpoint. */
async function anOAuth(api: Api) {
  const client = await api.anOAuthClient();
  const sent: string[] = [];
  const oauth = createOAuth({
    baseUrl: api.services.config.baseUrl,
    clientId: client.id,
    redirectUri: client.redirectUri,
    ...(client.clientSecret !== null && { clientSecret: client.clientSecret }),
    fetch: (url, init) => {
      sent.push(new Request(url).url);
      return fetch(url, init);
    },
  });
  return { oauth, countRefreshes: () => sent.filter((url) => url.endsWith('/oauth/token')).length - 1 };
}

async function someTokens(api: Api) {
  const { oauth, countRefreshes } = await anOAuth(api);
  const { url, ...pending } = await oauth.authorize({ scopes: ['teams:read'] });
  return { oauth, countRefreshes, tokens: await oauth.exchange(await approveAt(api, url), pending) };
}

const rosterOf = ({ services }: Api, credential: () => Promise<string>) =>
  createRoster({ baseUrl: services.config.baseUrl, credential, retries: 0 });

describe('createOAuth', () => {
  test('leads from the authorization URL to a token with the granted scopes', async ({ api }) => {
    const { oauth, tokens } = await someTokens(api);
    expect(tokens).toMatchObject({ scopes: ['teams:read'], refreshToken: expect.any(String) });
    expect(tokens.expiresAt).toBeGreaterThan(Date.now() + 3_000_000);
    const roster = rosterOf(
      api,
      oauth.createCredential(tokens, () => undefined),
    );
    expect(await roster.getCredential()).toMatchObject({ kind: 'oauth-grant', scopes: ['teams:read'] });
  });

  test('refuses an answer with another state, and one in which the user denied', async ({ api }) => {
    const { oauth } = await anOAuth(api);
    const { url, ...pending } = await oauth.authorize({ scopes: ['teams:read'] });
    const answer = await approveAt(api, url);
    await expect(oauth.exchange(answer, { ...pending, state: 'another' })).rejects.toThrow(/state/);
    const other = await oauth.authorize({ scopes: ['teams:read'] });
    await expect(oauth.exchange(await denyAt(api, other.url), other)).rejects.toMatchObject({ error: 'access_denied' });
  });

  // Guarantees that concurrent requests do not spend the same refresh token, which would end the grant.
  test('concurrent calls share one refresh, whose tokens are saved before the calls go on', async ({ api }) => {
    const { oauth, tokens, countRefreshes } = await someTokens(api);
    const saved: OAuthTokens[] = [];
    const credential = oauth.createCredential({ ...tokens, expiresAt: Date.now() }, (next) => void saved.push(next));
    const roster = rosterOf(api, async () => {
      const token = await credential();
      expect(saved.map(({ accessToken }) => accessToken)).toEqual([token]);
      return token;
    });
    await Promise.all(Array.from({ length: 10 }, () => roster.listTeams()));
    expect(countRefreshes()).toBe(1);
    expect(saved[0]?.refreshToken).not.toBe(tokens.refreshToken);
  });

  test('tokens that could not be saved are saved by the next call, without another refresh', async ({ api }) => {
    const { oauth, tokens, countRefreshes } = await someTokens(api);
    const saved: (OAuthTokens | Error)[] = [new Error('no database')];
    const credential = oauth.createCredential({ ...tokens, expiresAt: 0 }, (next) => {
      const failure = saved.pop();
      saved.push(next);
      if (failure instanceof Error) throw failure;
    });
    await expect(credential()).rejects.toThrow('no database');
    const token = await credential();
    expect(saved).toMatchObject([{ accessToken: token }]);
    expect(countRefreshes()).toBe(1);
  });

  test('revoking cuts off the token', async ({ api }) => {
    const { oauth, tokens } = await someTokens(api);
    await oauth.revoke(tokens);
    const roster = rosterOf(api, () => Promise.resolve(tokens.accessToken));
    await expect(roster.listTeams()).rejects.toMatchObject({ code: 'credential_invalid' });
  });
});
