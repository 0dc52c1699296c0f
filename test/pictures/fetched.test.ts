import type { ServerResponse } from 'node:http';
import sharp from 'sharp';
import { expect, vi } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { aServer } from '../outbound/receiver.ts';
import { aBomb, aPhotograph, SVG } from './files.ts';
import { read, sender } from './sender.ts';

// The pictures are on this machine, where nothing is fetched from otherwise.
const local = vi.hoisted(() => ({ network: undefined as object | undefined }));
vi.mock(import('../../src/picture-conversion/fetch-picture.ts'), async (load) => {
  const { fetchPicture } = await load();
  return {
    fetchPicture: (url, signal) => fetchPicture(url, signal, local.network as Parameters<typeof fetchPicture>[2]),
  };
});

/** A server that answers in some way, and a caller who names it. */
async function aFetch(api: Api, answer: (res: ServerResponse) => void) {
  const server = await aServer((_req, res) => answer(res));
  local.network = server.allowed;
  const account = await api.anAccount();
  return { server, caller: await sender(api, account) };
}

test('a picture at a URL is fetched once, without credentials, and kept like one that is uploaded', async ({ api }) => {
  const photograph = await aPhotograph();
  const { server, caller } = await aFetch(api, (res) => res.end(photograph));
  const set = await caller.fetch(server.url);
  expect(set.status, set.text).toBe(200);
  expect(set.body.url).toMatch(/\/pictures\/[\w-]{43}\.webp$/);

  for (let i = 0; i < 3; i += 1)
    expect(await sharp((await read(api, set.body.url)).bytes).metadata()).toMatchObject({ format: 'webp', width: 256 });
  expect(server.requests).toHaveLength(1);
  expect(Object.keys(server.requests[0]?.headers ?? {}).sort()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
  ]);
});

test.for([
  ['a redirect', (res: ServerResponse) => res.writeHead(302, { location: 'https://127.0.0.1/' }).end()],
  ['an error', (res: ServerResponse) => res.writeHead(500).end()],
  ['more than 2 MiB', (res: ServerResponse) => res.end(Buffer.alloc(2 * 1024 * 1024 + 1))],
  ['a connection that breaks', (res: ServerResponse) => res.writeHead(200, { 'content-length': 9 }).destroy()],
] as const)('%s is one and the same refusal', async ([, answer], { api }) => {
  const { server, caller } = await aFetch(api, answer);
  expect(await caller.fetch(server.url)).toBeProblem('picture_unreachable');
  expect((await caller.visitor.trpc.getMe.query()).avatar).toBeNull();
});

test.for([
  ['SVG', SVG],
  ['a bomb', aBomb(6000, 6000)],
] as const)('%s from a URL is refused', async ([, bytes], { api }) => {
  const { server, caller } = await aFetch(api, (res) => res.writeHead(200, { 'content-type': 'image/png' }).end(bytes));
  expect(await caller.fetch(server.url)).toBeProblem('picture_rejected');
});

test('a fetch ends when its caller hangs up', async ({ api }) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { server, caller } = await aFetch(api, (res) => res.on('close', resolve).writeHead(200).write('a'));
  const req = caller.beginFetch(server.url);
  await expect.poll(() => server.requests.length).toBe(1);
  req.destroy();
  await closed;
});
