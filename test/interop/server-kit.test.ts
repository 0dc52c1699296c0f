import { once } from 'node:events';
import { createServer, request as sendTo, type IncomingMessage } from 'node:http';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { expect, onTestFinished } from 'vitest';
import {
  RosterAccessError,
  toExpress,
  toFastify,
  toFetchRequest,
  toHono,
  toNext,
  type RosterAuth,
  type RosterSession,
} from '../../clients/typescript/src/server.ts';
import { pathOf, serveAt, startProduct } from '../clients/server-kit.ts';
import { startApiAtItsAddress, testWith } from '../support/api.ts';

const test = testWith(() => startApiAtItsAddress());

/** Answers requests of Node.js by a handler of `fetch`, as the servers of Hono and Next do. */
const serveFetch = (handle: (request: Request) => Response | Promise<Response>) =>
  serveAt(
    createServer((req, res) => {
      void toFetchRequest(req, true)
        .then(handle)
        .catch((error: unknown) => {
          if (error instanceof RosterAccessError) return error.toResponse();
          throw error;
        })
        .then(async (response) => {
          res.statusCode = response.status;
          for (const [name, value] of response.headers) res.appendHeader(name, value);
          res.end(Buffer.from(await response.arrayBuffer()));
        });
    }),
  );

const SERVERS = {
  async fastify(auth: RosterAuth) {
    const app = Fastify();
    await app.register(toFastify(auth));
    app.get('/me', async (request, reply) => {
      const session = await auth.getSession(await toFetchRequest(request.raw));
      return session === null ? reply.code(401).send({}) : { user: session.user };
    });
    const appAt = await app.listen({ host: '127.0.0.1', port: 0 });
    return { appAt, close: () => app.close() };
  },
  hono(auth: RosterAuth) {
    const app = new Hono<{ Variables: { roster: RosterSession | null } }>();
    app.use(toHono(auth));
    app.get('/me', (context) => {
      const session = context.get('roster');
      return session === null ? context.json({}, 401) : context.json({ user: session.user });
    });
    return serveFetch((request) => app.fetch(request));
  },
  next(auth: RosterAuth) {
    const { GET, POST } = toNext(auth);
    return serveFetch(async (request) => {
      if (new URL(request.url).pathname !== '/me') return request.method === 'GET' ? GET(request) : POST(request);
      const session = await auth.getSession(request);
      return Response.json({ user: session?.user }, { status: session === null ? 401 : 200 });
    });
  },
};

// Guarantees that a product on these servers signs users in, calls procedures with bodies, and signs them out.
test.for(Object.entries(SERVERS))('the kit works on %s', async ([, serve], { api }) => {
  const product = await startProduct(api, {}, async (auth) => serve(auth));
  onTestFinished(() => void product.close());
  const { appUrl, account, browser, me } = product;
  expect((await me()).status).toBe(401);

  const { response } = await product.signIn('?returnTo=/me');
  expect(await response.json()).toMatchObject({ user: { id: account.id } });

  const created = await browser.send(`${appUrl}/roster/trpc/createTeam`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Engines' }),
  });
  expect(await created.json()).toMatchObject({ result: { data: { name: 'Engines' } } });

  const forged = await browser.send(`${appUrl}/auth/back-channel-logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: 'x' }),
  });
  expect(forged.status).toBe(400);

  expect((await browser.send(`${appUrl}/auth/sign-out`, { method: 'POST' })).status).toBe(303);
  expect((await me()).status).toBe(401);
});

test('a call whose answer ends early is 503 on Fastify, which waits for no more', async ({ api }) => {
  const ending = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"result":')),
      pull: (controller) => controller.error(new TypeError('terminated')),
    });
  const cut: typeof fetch = async (input, init) =>
    pathOf(input).startsWith('/trpc/') ? new Response(ending()) : fetch(input, init);
  const product = await startProduct(api, { fetch: cut }, async (auth) => SERVERS.fastify(auth));
  onTestFinished(() => void product.close());
  await product.signIn();
  const response = await product.browser.send(`${product.appUrl}/roster/trpc/getMe`);
  expect([response.status, await response.json()]).toMatchObject([503, { error: 'roster_unavailable' }]);
});

/** Sends what no browser would, and no `fetch` can. @returns the status; 0 without an answer */
async function statusOf(at: string, path: string, method: string, headers: Record<string, string>, body: string) {
  const sent = sendTo(at, { path, method, headers: { ...headers, 'content-length': Buffer.byteLength(body) } });
  sent.setTimeout(5000, () => sent.destroy());
  sent.end(body);
  const [response] = (await once(sent, 'response').catch(() => [undefined])) as [IncomingMessage | undefined];
  response?.resume();
  return response?.statusCode ?? 0;
}

const ROUTES = [
  'GET /auth/sign-in',
  'GET /auth/callback',
  'GET /auth/session',
  'GET /auth/prove',
  'GET /auth/proved',
  'POST /auth/sign-out',
  'POST /auth/team',
  'POST /auth/back-channel-logout',
  'POST /roster/trpc/createTeam',
] as const;
const BODIES = ['null', '[]', '7', '"x"', '{', '', '\u0000', '{"team":null}', '{"team":{}}'];
const PATHS = [
  '/roster/trpc/%zz',
  '/auth/%zz',
  '/auth/',
  '/roster/trpc/',
  '/auth/sign-in?returnTo=%zz',
  '/auth/callback?state=%00',
];

// Guarantees that nobody makes a product fail, or keeps its connections, by what they send.
test.for(
  Object.entries({
    express: (auth: RosterAuth) => serveAt(createServer(express().use(toExpress(auth)))),
    ...SERVERS,
  }),
)('what cannot be read is answered on %s, and is no fault', async ([, serve], { api }) => {
  const product = await startProduct(api, {}, async (auth) => serve(auth));
  onTestFinished(() => void product.close());
  await product.signIn();
  const cookie = [...product.browser.jarOf(product.appUrl)].map((pair) => pair.join('=')).join('; ');
  const own = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json', cookie };
  const statuses: Record<string, number> = {};
  const send = async (method: string, path: string, body = '', headers: Record<string, string> = {}) => {
    const name = `${method} ${path} ${JSON.stringify(body)} ${JSON.stringify(headers)}`;
    statuses[name] = await statusOf(product.appAt, path, method, { ...own, ...headers }, body);
  };
  for (const route of ROUTES) {
    const [method = '', path = ''] = route.split(' ');
    for (const host of ['[bad', 'a b', '']) await send(method, path, '', { host });
    await send(method, path, '', { cookie: '__Host-roster=%zz; __Host-roster-sign-in-x=1' });
    if (method === 'POST') for (const body of BODIES) await send(method, path, body);
  }
  for (const path of PATHS) for (const method of ['GET', 'POST', 'DELETE']) await send(method, path);
  expect(Object.entries(statuses).filter(([, status]) => status < 200 || status >= 500)).toEqual([]);
  expect(await statusOf(product.appAt, '/auth/team', 'POST', own, 'null')).toBe(400);
  expect(await statusOf(product.appAt, '/roster/trpc/%zz', 'GET', own, '')).toBe(400);
});
