import { connect } from 'node:net';
import fc from 'fast-check';
import { expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { check } from './setting.ts';

const WHOLE = ['/api/v1/teams', '/trpc/createTeam', '/oauth/token', '/']
  .flatMap((path) => [
    ['POST', path, 'Content-Type: application/json', 'Content-Length: 12', '', '{"name":"x"}'],
    [
      'POST',
      path,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      '',
      'c\r\n{"name":"x"}\r\n0\r\n\r\n',
    ],
    ['GET', path, 'Accept: text/html', ''],
  ])
  .map(([method, path, ...lines]) => [`${method} ${path} HTTP/1.1`, 'Host: localhost:3000', ...lines].join('\r\n'))
  .map((text) => (text.includes('GET') ? `${text}\r\n` : text));

const PIECES = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\u0000',
  '\u00ff',
  ' ',
  '\t',
  ':',
  ',',
  '0',
  '9'.repeat(20),
  '-',
  '%',
  '?',
  '/',
  '\r\nContent-Length: 0',
  '\r\nTransfer-Encoding: chunked',
  '\r\nHost: x',
  'HTTP/1.0',
  'GET / HTTP/1.1\r\n\r\n',
];

type Cut = { readonly at: number; readonly gone: number; readonly piece: string };

const cuts = fc.array(
  fc.record({
    at: fc.nat(200),
    gone: fc.nat(6),
    piece: fc.oneof(
      fc.constantFrom(...PIECES),
      fc.string({ unit: fc.nat(255).map((code) => String.fromCodePoint(code)), maxLength: 4 }),
    ),
  }),
  { maxLength: 4 },
);

const mangled = (text: string, list: readonly Cut[]): string =>
  list.reduce((now, { at, gone, piece }) => now.slice(0, at) + piece + now.slice(at + gone), text);

/** All that comes back for some bytes, after which nothing more is sent. */
function heardFor({ port }: Api, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(text, 'latin1'));
    let heard = '';
    socket.on('data', (chunk) => (heard += chunk.toString('latin1')));
    // The service may hang up first.
    socket.on('error', () => undefined).on('close', () => resolve(heard));
  });
}

test('whatever bytes come, nothing answers with a fault, and the service goes on', async ({ api }) => {
  await check(
    fc.asyncProperty(fc.constantFrom(...WHOLE), cuts, async (text, list) => {
      const heard = await heardFor(api, mangled(text, list));
      if (heard !== '') expect(heard).toMatch(/^HTTP\/1\.1 [1-4]\d\d /);
      expect(heard).not.toMatch(/HTTP\/1\.1 5\d\d /);
    }),
    3000,
  );
  expect((await api.anonymous.get('/healthz')).status).toBe(200);
});
