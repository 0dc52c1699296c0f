import { generateKeyPairSync, sign } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect } from 'vitest';
import { rotateKeys } from '../../src/resources/openid/signing-keys.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import { aFirstParty, firstPartyTokens, sessionOf } from './first-party-flow.ts';
import { browse, queryOf } from './flow.ts';

const test = testWith(() => startApi());

const RETURN = 'https://app.example/signed-out';
/** With characters that URL parsers write differently. */
const RETURN_WITH_QUERY = 'https://app.example/signed-out?from=a+b&x=%7e';

async function aScene(api: Api) {
  const scene = await aFirstParty(api);
  await api.rows('update oauth_client set post_logout_redirect_uris = $2 where id = $1', [
    scene.client.id,
    [RETURN, RETURN_WITH_QUERY],
  ]);
  const { body, access } = await firstPartyTokens(api, scene, { scope: 'openid teams:read' });
  return { ...scene, idToken: body['id_token'] ?? '', access };
}

const logOut = (api: Api, visitor: Visitor, asked: Readonly<Record<string, string>>) =>
  browse(api, visitor)(`/oauth/logout?${queryOf(asked)}`);

const isSignedIn = async (api: Api, visitor: Visitor): Promise<boolean> => (await sessionIsOpen(api, visitor)) === 1;

async function sessionIsOpen(api: Api, visitor: Visitor): Promise<number> {
  const rows = await api.rows('select from session where id = $1 and revoked_at is null', [
    await sessionOf(api, visitor),
  ]);
  return rows.length;
}

describe('a logout request of an application (RP-Initiated Logout 1.0)', () => {
  test('is announced by discovery', async ({ api }) => {
    const { baseUrl } = api.services.config;
    const { body } = await api.anonymous.get('/.well-known/openid-configuration');
    expect(body).toMatchObject({
      end_session_endpoint: `${baseUrl}/oauth/logout`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      frontchannel_logout_supported: false,
    });
    const oauth = await api.anonymous.get('/.well-known/oauth-authorization-server');
    expect(oauth.body).not.toHaveProperty('end_session_endpoint');
  });

  test('with the id token of the session ends it without a question, and returns with the state', async ({ api }) => {
    const { visitor, idToken, access, account } = await aScene(api);
    const id = await sessionOf(api, visitor);
    const answer = await logOut(api, visitor, {
      id_token_hint: idToken,
      post_logout_redirect_uri: RETURN_WITH_QUERY,
      state: 'a state&x',
    });
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe(`${RETURN_WITH_QUERY}&state=a+state%26x`);
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect(visitor.cookies.has('roster_session_3000')).toBe(false);
    expect(await api.rows('select from session where id = $1 and revoked_at is null', [id])).toEqual([]);
    expect(await api.as(access).get('/api/v1/teams')).toBeProblem('credential_invalid');
    const events = await api.rows(
      `select actor_kind, actor_id, details->>'reason' as reason from audit_event where event = 'session.ended' and target_id = $1`,
      [id],
    );
    expect(events).toEqual([{ actor_kind: 'session', actor_id: account.id, reason: 'signed out by an application' }]);
  });

  test('accepts an expired id token, and one of a key that was rotated', async ({ api }) => {
    const { visitor, idToken } = await aScene(api);
    await rotateKeys(api.services);
    const { exp = 0 } = decodeJwt(idToken);
    const now = Date.now;
    Date.now = () => (exp + 3600) * 1000;
    try {
      expect((await logOut(api, visitor, { id_token_hint: idToken })).headers.location).toBe('/sign-out');
    } finally {
      Date.now = now;
    }
    expect(await isSignedIn(api, visitor)).toBe(false);
  });

  test('without an id token asks, and ends nothing', async ({ api }) => {
    const { visitor, client } = await aScene(api);
    const asked = { client_id: client.id, post_logout_redirect_uri: RETURN, state: 's', ui_locales: 'de' };
    const answer = await logOut(api, visitor, asked);
    expect(answer.headers.location).toBe(
      `/sign-out?${queryOf({ client_id: client.id, post_logout_redirect_uri: RETURN, state: 's', ui_locales: 'de' })}`,
    );
    expect(await isSignedIn(api, visitor)).toBe(true);
    await visitor.trpc.auth.signOut.mutate();
    expect((await logOut(api, visitor, asked)).headers.location).toBe(`${RETURN}?state=s`);
  });

  test('asks if the id token is of another account, another browser or an earlier session', async ({ api }) => {
    const mine = await aScene(api);
    const other = await signedIn(api, await api.anAccount());
    const elsewhere = await signedIn(api, mine.account);
    for (const visitor of [other, elsewhere]) {
      const answer = await logOut(api, visitor, { id_token_hint: mine.idToken, post_logout_redirect_uri: RETURN });
      // Without the token: whoever says yes there is not who it names.
      expect(answer.headers.location).toBe(
        `/sign-out?${queryOf({ post_logout_redirect_uri: RETURN, client_id: mine.client.id })}`,
      );
      expect(await isSignedIn(api, visitor)).toBe(true);
    }
    expect(await isSignedIn(api, mine.visitor)).toBe(true);
  });

  // The cookie of a longer session ends before it, and the application says that its user is signed out.
  test('from a browser without a cookie ends the session of the id token alone, and goes on or says so', async ({
    api,
  }) => {
    const { idToken, visitor, access, account, client } = await aScene(api);
    const elsewhere = await signedIn(api, account);
    const stranger = api.visitor();
    const refused = { id_token_hint: idToken, post_logout_redirect_uri: 'https://evil.example/' };
    expect((await logOut(api, stranger, refused)).status).toBe(400);
    expect((await logOut(api, stranger, { client_id: client.id })).headers.location).toBe('/sign-out');
    expect(await isSignedIn(api, visitor)).toBe(true);
    const back = await logOut(api, stranger, { id_token_hint: idToken, post_logout_redirect_uri: RETURN });
    expect(back.headers.location).toBe(RETURN);
    expect([await isSignedIn(api, visitor), await isSignedIn(api, elsewhere)]).toEqual([false, true]);
    expect(await api.as(access).get('/api/v1/teams')).toBeProblem('credential_invalid');
    const again = await logOut(api, stranger, { id_token_hint: idToken, post_logout_redirect_uri: RETURN });
    expect(again.headers.location).toBe(RETURN);
    expect((await logOut(api, stranger, {})).headers.location).toBe('/sign-out');
  });

  test('redirects only to what is registered, as it is registered, and then ends nothing', async ({ api }) => {
    const { visitor, idToken, client } = await aScene(api);
    const other = await api.anOAuthClient();
    for (const [asked, reason] of [
      [{ post_logout_redirect_uri: 'https://evil.example/' }, 'not registered'],
      [{ post_logout_redirect_uri: `${RETURN}/` }, 'not registered'],
      [{ post_logout_redirect_uri: client.redirectUri }, 'not registered'],
      [{ post_logout_redirect_uri: RETURN, client_id: other.id }, 'not the client of the id_token_hint'],
    ] as const) {
      const answer = await logOut(api, visitor, { id_token_hint: idToken, ...asked });
      expect(answer.status).toBe(400);
      expect(answer.headers.location).toBeUndefined();
      expect(answer.text).toContain(reason);
      expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    }
    const unnamed = await logOut(api, visitor, { post_logout_redirect_uri: RETURN });
    expect(unnamed.text).toContain('needs an id_token_hint or a client_id');
    const unknown = await logOut(api, visitor, { post_logout_redirect_uri: RETURN, client_id: 'client_unknown' });
    expect(unknown.text).toContain('not registered');
    expect(await isSignedIn(api, visitor)).toBe(true);
  });

  test('is rejected for a hint that Roster did not sign: foreign, unsigned, altered', async ({ api }) => {
    const { visitor, idToken } = await aScene(api);
    const [head = '', claims = '', signature = ''] = idToken.split('.');
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { kid } = decodeProtectedHeader(idToken);
    const foreign = `${encode({ alg: 'RS256', typ: 'JWT', kid })}.${claims}`;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    for (const hint of [
      `${foreign}.${sign('sha256', Buffer.from(foreign), privateKey).toString('base64url')}`,
      `${encode({ alg: 'none', typ: 'JWT' })}.${claims}.`,
      `${head}.${encode({ ...decodeJwt(idToken), sub: 'acc_other' })}.${signature}`,
      'not-a-token',
    ]) {
      const answer = await logOut(api, visitor, { id_token_hint: hint, post_logout_redirect_uri: RETURN });
      expect(answer.status, hint).toBe(400);
      expect(answer.text).toContain('not an id token of this server');
    }
    expect(await isSignedIn(api, visitor)).toBe(true);
  });

  test('by POST goes on as a GET, with which the browser sends its cookie', async ({ api }) => {
    const { idToken } = await aScene(api);
    const form = queryOf({ id_token_hint: idToken, state: 'x&y' });
    const answer = await api.anonymous.send({
      method: 'POST',
      path: '/oauth/logout',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form,
    });
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe(`/oauth/logout?${form}`);
  });

  test.for(['/oauth/logout', '/oauth/authorize'])(
    'by POST to %s with a form that cannot be read is a page',
    async (path, { api }) => {
      const send = (body: string, headers: Record<string, string> = {}) =>
        api.anonymous.send({
          method: 'POST',
          path,
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
          body,
        });
      const compressed = await send('state=1', { 'content-encoding': 'gzip' });
      const large = await send(`state=${'1'.repeat(64 * 1024)}`);
      expect([compressed.status, large.status]).toEqual([415, 413]);
      for (const answer of [compressed, large]) {
        expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
        expect(answer.text).toContain('invalid_request');
      }
    },
  );

  test('with a repeated parameter, NUL or another method is refused', async ({ api }) => {
    const { visitor, client } = await aScene(api);
    const open = browse(api, visitor);
    expect((await open(`/oauth/logout?client_id=${client.id}&client_id=${client.id}`)).text).toContain('repeated');
    expect((await open('/oauth/logout?state=%00')).text).toContain('NUL');
    const put = await api.anonymous.send({ method: 'PUT', path: '/oauth/logout' });
    expect(put).toBeProblem('method_not_allowed');
    expect(await isSignedIn(api, visitor)).toBe(true);
  });
});
