import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { outcomeOf } from '../trpc/console.ts';
import type { AClient, AnAccount } from '../support/factories.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import { aCode, aProofKey, askConsent, browse, exchange, goodRequest, post } from './flow.ts';

type Scene = { readonly api: Api; readonly account: AnAccount; readonly client: AClient; readonly visitor: Visitor };

async function aScene(api: Api, fields: Parameters<Api['anOAuthClient']>[0] = {}): Promise<Scene> {
  const account = await api.anAccount();
  const client = await api.anOAuthClient({ owner: account, ...fields });
  return { api, account, client, visitor: await signedIn(api, account) };
}

/** Gives the client another redirect URI in place of the one it has. */
const move = ({ client, visitor }: Scene, uri = 'https://client.example/other') =>
  visitor.trpc.oauthClients.update.mutate({ clientId: client.id, redirectUris: [uri] });

const asked = ({ api, client, visitor }: Scene) =>
  askConsent(api, visitor, goodRequest(client, aProofKey().challenge, ['teams:read']));

const approve = ({ account, visitor }: Scene, id: string) =>
  visitor.trpc.authorizations.approve.mutate({ id, accountId: account.id, teamId: null, scopes: ['teams:read'] });

const expectPage = (answer: Awaited<ReturnType<ReturnType<typeof browse>>>) => {
  expect(answer.status).toBe(400);
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(answer.headers).not.toHaveProperty('location');
};

describe('a redirect URI that was removed from the client after the request began', () => {
  test('is shown no consent page and gets no consent', async ({ api }) => {
    const scene = await aScene(api);
    const id = await asked(scene);
    await move(scene);

    expect(await outcomeOf(scene.visitor.trpc.authorizations.read.query({ id }))).toBe('authorization_not_found');
    expect(await outcomeOf(approve(scene, id))).toBe('authorization_not_found');
    expect(await api.rows('select 1 from oauth_token_family where client_id = $1', [scene.client.id])).toEqual([]);
  });

  test.for(['approve', 'deny'] as const)('gets no answer after %s', async (decision, { api }) => {
    const scene = await aScene(api);
    const id = await asked(scene);
    const { redirectTo } =
      decision === 'approve' ? await approve(scene, id) : await scene.visitor.trpc.authorizations.deny.mutate({ id });
    await move(scene);

    expectPage(await browse(api, scene.visitor)(new URL(redirectTo).pathname));
    expect(await api.rows(`select 1 from oauth_token where kind = 'code'`)).toEqual([]);
  });

  test('has codes that are worth nothing', async ({ api }) => {
    const scene = await aScene(api);
    const code = await aCode(api, scene);
    await move(scene);

    const answer = await exchange(api, code);

    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await scene.visitor.trpc.grants.list.query()).toEqual([]);
  });

  test('is refused where the request was pushed before', async ({ api }) => {
    const scene = await aScene(api, { confidential: true });
    const { client, visitor } = scene;
    const { client_id: _, ...params } = goodRequest(client, aProofKey().challenge, ['teams:read']);
    const pushed = await post(api, '/oauth/par', client, params);
    const { request_uri: uri } = pushed.body as { request_uri: string };
    await move(scene);

    const query = new URLSearchParams({ client_id: client.id, request_uri: uri }).toString();
    expectPage(await browse(api, visitor)(`/oauth/authorize?${query}`));
  });
});

test('a native client keeps its redirect URI whatever the port of the loopback address', async ({ api }) => {
  const scene = await aScene(api, { native: true, redirectUri: 'http://127.0.0.1:4321/callback' });
  await move(scene, 'http://127.0.0.1/callback');
  const code = await aCode(api, scene);
  await move(scene, 'http://127.0.0.1:1/callback');

  expect((await exchange(api, code)).status).toBe(200);
});
