import { once } from 'node:events';
import { createServer, request as sendTo, type IncomingMessage, type RequestOptions } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import express, { type RequestHandler } from 'express';
import { describe, expect, onTestFinished } from 'vitest';
import { toExpress, toFetchRequest, type RosterAuth, type RosterAuthOptions } from '#client/server';
import { signClaims } from '../../src/resources/openid/signing-keys.ts';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { pathOf, serveAt, startProduct } from './server-kit.ts';

const test = testWith(() => startApiAtItsAddress());

/** A product with routes of its own below those of the kit. */
function serve(auth: RosterAuth, before: RequestHandler) {
  const app = express();
  app.use(before, toExpress(auth));
  app.use(express.json());
  app.post('/auth/own', (req, res) => void res.json({ read: req.body as unknown }));
  return serveAt(createServer(app));
}

const NOTHING: RequestHandler = (_req, _res, next) => next();

async function signedIn(api: Api, options: Partial<RosterAuthOptions> = {}, before = NOTHING) {
  const product = await startProduct(api, options, async (auth) => serve(auth, before));
  onTestFinished(() => void product.close());
  await product.signIn();
  return product;
}

const JSON_TYPE = { 'content-type': 'application/json' };

test('a route of the product below those of the kit gets its body', async ({ api }) => {
  const { browser, appUrl } = await signedIn(api);
  const init = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ kept: true }) };
  expect(await (await browser.send(`${appUrl}/auth/own`, init)).json()).toEqual({ read: { kept: true } });
});

/** What can be before the kit, although its page says otherwise. */
const PARSERS: Readonly<Record<string, RequestHandler>> = {
  'express.json()': express.json(),
  'express.urlencoded()': express.urlencoded(),
  'express.text()': express.text({ type: () => true }),
  'express.raw()': express.raw({ type: () => true }),
  'one that sets an empty body for what it leaves unread': (req, _res, next) => {
    req.body = {};
    next();
  },
};

test.for(Object.entries(PARSERS))('bodies arrive after %s', async ([, parser], { api }) => {
  const { browser, appUrl, client } = await signedIn(api, {}, parser);
  const post = (path: string, init: RequestInit) => browser.send(`${appUrl}${path}`, { method: 'POST', ...init });
  const created = await post('/roster/trpc/createTeam', {
    headers: JSON_TYPE,
    body: JSON.stringify({ name: 'Engines' }),
  });
  expect(await created.json()).toMatchObject({ result: { data: { name: 'Engines' } } });
  expect((await post('/auth/team', { headers: JSON_TYPE, body: '{"team":""}' })).status).toBe(200);

  const { baseUrl } = api.services.config;
  const iat = Math.floor(Date.now() / 1000);
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const claims = { iss: baseUrl, aud: client.id, iat, exp: iat + 120, jti: 'x', events, sid: 'ses_x' };
  const token = await signClaims(api.services, claims as Parameters<typeof signClaims>[1], 'logout+jwt');
  expect((await post('/auth/back-channel-logout', { body: new URLSearchParams({ logout_token: token }) })).status).toBe(
    200,
  );
});

test('a body that something before the kit has read and not kept is answered, and is no fault', async ({ api }) => {
  const { browser, appUrl } = await signedIn(api, {}, (req, _res, next) => void req.resume().on('end', next));
  const response = await browser.send(`${appUrl}/auth/team`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: '{"team":""}',
  });
  expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_request' }]);
});

test('what cannot be answered any more goes to `next`, also where nobody waits for a handler', async ({ api }) => {
  const { auth, appUrl } = await signedIn(api);
  const roster = toExpress(auth);
  const sent = new Error('The headers were sent.');
  const fail = (): never => {
    throw sent;
  };
  const response = { statusCode: 200, appendHeader: fail, end: fail };
  const passed: unknown[] = [];
  for (const [handler, url] of [
    [roster, '/auth/session'],
    [roster.session, '/me'],
    [roster.permission('edit_team_settings'), '/me'],
  ] as const) {
    const request = Object.assign(Readable.from([]), { url, headers: { host: new URL(appUrl).host } });
    await handler(request, response, (error) => void passed.push(error));
  }
  expect(passed).toEqual([sent, sent, sent]);
});

test('an answer of Roster that ends early is 503', async ({ api }) => {
  const cut = () => {
    let isFirst = true;
    return new ReadableStream({
      pull(controller) {
        if (isFirst) controller.enqueue(new TextEncoder().encode('{"result":'));
        else controller.error(new TypeError('terminated'));
        isFirst = false;
      },
    });
  };
  const { browser, appUrl } = await signedIn(api, {
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      return pathOf(input).startsWith('/trpc/') ? new Response(cut(), response) : response;
    },
  });
  const response = await browser.send(`${appUrl}/roster/trpc/getMe`);
  expect([response.status, await response.json()]).toMatchObject([503, { error: 'roster_unavailable' }]);
});

test('an address that cannot be read is in no error: it can hold a code', async () => {
  const request = Object.assign(Readable.from([]), { url: '/auth/callback?code=secret', headers: { host: 'a b' } });
  const error: unknown = await toFetchRequest(request).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 400, code: 'invalid_request' });
  expect(inspect(error, { depth: null, showHidden: true })).not.toContain('secret');
});

describe('a request that no browser sends', () => {
  async function send(at: string, path: string, options: RequestOptions, chunks: readonly string[]) {
    const sent = sendTo(at, { ...options, path });
    sent.on('error', () => undefined); // the server can close the connection before it has read everything
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
    const [response] = await answered;
    return { status: response.statusCode, body: JSON.parse(await text(response)) as { error?: string } };
  }

  test('is answered if it says its whole URL', async ({ api }) => {
    const { appAt, appUrl } = await signedIn(api);
    expect(await send(appAt, `${appUrl}/auth/session?x=1`, {}, [])).toEqual({ status: 200, body: null });
    expect((await send(appAt, '//auth/session', {}, []).catch(() => ({ status: 404 }))).status).toBe(404);
  });

  test.for([
    ['/auth/team', 64 * 1024],
    ['/auth/back-channel-logout', 64 * 1024],
    ['/roster/trpc/createTeam', 1024 * 1024],
  ] as const)('to %s with more than it can need is 413, also without a length', async ([path, bytes], { api }) => {
    const { appAt, browser, appUrl } = await signedIn(api);
    const cookie = [...browser.jarOf(appUrl)].map((pair) => pair.join('=')).join('; ');
    const headers = { ...JSON_TYPE, cookie, 'sec-fetch-site': 'same-origin' };
    const chunks = Array.from({ length: 3 }, () => 'x'.repeat(bytes / 2));
    const answer = { status: 413, body: { error: 'body_too_large' } };
    expect(await send(appAt, path, { method: 'POST', headers }, chunks)).toMatchObject(answer);
    const long = { ...headers, 'content-length': chunks.join('').length };
    expect(await send(appAt, path, { method: 'POST', headers: long }, chunks)).toMatchObject(answer);
  });
});
