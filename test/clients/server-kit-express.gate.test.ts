import { once } from 'node:events';
import { createServer, request as sendTo, type IncomingMessage, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import express from 'express';
import { describe, expect, onTestFinished } from 'vitest';
import { toExpress, type RosterAuth, type RosterAuthOptions } from '#client/server';
import { startApiAtItsAddress, testWith, type Api } from '../support/api.ts';
import { pathOf, serveAt, startProduct } from './server-kit.ts';

const test = testWith(() => startApiAtItsAddress());

/** A product with routes of its own below those of the kit. */
function serve(auth: RosterAuth) {
  const app = express();
  app.use(toExpress(auth));
  app.use(express.json());
  app.post('/auth/own', (req, res) => void res.json({ read: req.body as unknown }));
  return serveAt(createServer(app));
}

async function signedIn(api: Api, options: Partial<RosterAuthOptions> = {}) {
  const product = await startProduct(api, options, async (auth) => serve(auth));
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
