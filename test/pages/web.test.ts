import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { webPages } from '../../src/pages/web.ts';
import { test as apiTest } from '../support/api.ts';
import { readConsoleRoutes } from '../support/console-routes.ts';

const SCRIPT = 'console.log("the console");'.repeat(20);
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const BRAND = { name: 'Roster', color: '#12664f', logo: null } as const;

const directory = mkdtempSync(join(tmpdir(), 'roster-web-'));
writeFileSync(join(directory, 'secret.txt'), 'beside the build');
const built = join(directory, 'built');
mkdirSync(join(built, 'assets/deeper'), { recursive: true });
writeFileSync(join(built, 'index.html'), '<!doctype html><head><title>Console</title></head>');
writeFileSync(join(built, 'assets/index-abc123.js'), SCRIPT);
writeFileSync(join(built, 'assets/index-abc123.js.br'), brotliCompressSync(SCRIPT));
writeFileSync(join(built, 'assets/index-abc123.js.gz'), gzipSync(SCRIPT));
writeFileSync(join(built, 'assets/icon-abc123.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
writeFileSync(join(built, 'assets/deeper/index.js'), SCRIPT);
symlinkSync(join(directory, 'secret.txt'), join(built, 'assets/linked-abc123.js'));

async function serve(from: string, brand: Config['brand'] = BRAND, baseUrl = 'https://roster.test') {
  const app = express();
  app.use(webPages({ baseUrl, brand, isDevelopment: false }, from));
  app.use((_req, res) => void res.status(404).send('the final 404'));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port }; // listening on TCP
}

const shell = await serve(built);
const local = await serve(built, BRAND, 'http://localhost:3000');
const unbuilt = await serve(join(directory, 'no-such-directory'));
afterAll(() => {
  shell.server.close();
  local.server.close();
  unbuilt.server.close();
  rmSync(directory, { recursive: true, force: true });
});

type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/** A path as it is written, which `fetch` would tidy up. */
const get = (
  path: string,
  headers: Record<string, string> = { accept: BROWSER },
  { method = 'GET', port = shell.port } = {},
) =>
  new Promise<Answer>((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, method, path, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks) }));
    });
    req.on('error', reject);
    req.end();
  });

describe('the pages of the console', () => {
  test.each([
    '/',
    '/sign-in',
    '/sign-in?next=%2Faccount',
    '/sign-up',
    '/verify-email?token=rst_ev_x',
    '/forgot-password',
    '/reset-password?token=rst_pr_x',
    '/confirm-email',
    '/invitation?token=rst_inv_x',
    '/account',
    '/teams/team_1/members',
    '/api-keys',
    '/developer',
    '/operator?find=ada',
    '/operator/accounts/acc_1',
    '/operator/teams/team_1',
    '/oauth/consent/req_1',
  ])('%s is the shell, for whoever asks', async (path) => {
    for (const accept of [BROWSER, '*/*']) {
      const { status, headers, body } = await get(path, { accept });

      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(body.toString()).toContain('<title>Roster</title>');
    }
  });

  // Guarantees that scripts of pages that need a session load early for those who have one, and not at all for others.
  test.each([
    ['roster_session=rst_ses_x', local.port, true],
    ['roster_session_3000=rst_ses_x', local.port, true],
    ['roster_session_4000=rst_ses_x', local.port, false],
    ['theme=dark; roster_session=rst_ses_x', local.port, true],
    ['__Host-roster_session=rst_ses_x', shell.port, true],
    ['roster_session=rst_ses_x', shell.port, false],
    ['roster_session=', local.port, false],
    ['other=x', local.port, false],
    [undefined, local.port, false],
  ])('with the cookie %s says whether there is a session, and nothing about it', async (cookie, port, hasSession) => {
    const asked = { accept: BROWSER, ...(cookie !== undefined && { cookie }) };
    const { body, headers } = await get('/teams/ada/members', asked, { port });

    expect(body.toString().includes('<meta name="roster-session" content="">')).toBe(hasSession);
    expect(body.toString()).not.toContain('rst_ses_x');
    expect(headers.vary).toBe('Cookie, Accept-Encoding');
    expect(headers['cache-control']).toBe('no-store');
  });

  // Guarantees that a page which links lead to can also be loaded, bookmarked and mailed.
  test('each route of the console can be opened directly', async () => {
    const paths = readConsoleRoutes().map((path) => path.replaceAll('$', ''));
    expect(paths.length).toBeGreaterThan(20);

    for (const path of paths) expect((await get(path)).status, path).toBe(200);
  });

  // Guarantees that no browser or proxy stores a page whose URL contains a token, or sends the URL to others.
  test('is not stored and sends no referrer', async () => {
    for (const path of ['/reset-password?token=rst_pr_x', '/oauth/consent/req_1']) {
      const { headers } = await get(path);

      expect(headers['cache-control']).toBe('no-store');
      expect(headers['referrer-policy']).toBe('no-referrer');
    }
  });

  // Guarantees that nothing but our own files runs, styles or frames a page.
  test.each(['/', '/oauth/consent/req_1'])(
    '%s has a policy without inline scripts, inline styles or other origins',
    async (path) => {
      const { headers } = await get(path);
      const policy = new Map(
        String(headers['content-security-policy'])
          .split('; ')
          .map((part) => part.split(/ (.*)/, 2) as [string, string]), // name and sources
      );

      expect(policy.get('default-src')).toBe("'none'");
      expect(policy.get('script-src')).toBe("'self'");
      expect(policy.get('style-src')).toBe("'self'");
      expect(policy.get('connect-src')).toBe("'self'");
      expect(policy.get('base-uri')).toBe("'none'");
      expect(policy.get('frame-ancestors')).toBe("'none'");
      expect([...policy.values()].join(' ')).not.toMatch(/unsafe|\*/);
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['permissions-policy']).toContain('publickey-credentials-get=(self)');
      expect(headers['permissions-policy']).toContain('publickey-credentials-create=(self)');
    },
  );

  test('a browser gets the shell for a page that there is not, with the status of one', async () => {
    const { status, body } = await get('/no/such/page');

    expect(status).toBe(404);
    expect(body.toString()).toContain('<title>Roster</title>');
  });

  test.each([
    ['/no/such/page', '*/*'],
    ['/no/such/page', 'application/json'],
    ['/api', BROWSER],
    ['/api/v2/teams', BROWSER],
    ['/trpc/no.such', BROWSER],
    ['/docs/no-such', BROWSER],
    ['/problems/no-such', BROWSER],
    ['/healthz/no-such', BROWSER],
    ['/.well-known/no-such', BROWSER],
    ['/oauth/no-such', BROWSER],
    ['/oauth/consenting', BROWSER],
    ['/api-keysmith', '*/*'],
    ['/operators', '*/*'],
    ['/oauth/Consent/req_1', BROWSER],
    ['/assets/no-such.js', BROWSER],
    ['/%zz', '*/*'],
  ])('leaves %s, asked for as %s, to the final 404', async (path, accept) => {
    expect((await get(path, { accept })).body.toString()).toBe('the final 404');
  });

  test('password managers find the page to change the password', async () => {
    const { status, headers } = await get('/.well-known/change-password');

    expect([status, headers['location']]).toEqual([302, '/account#password']);
  });

  test('HEAD answers like GET without a body, other methods not at all', async () => {
    const got = await get('/sign-in');
    const head = await get('/sign-in', { accept: BROWSER }, { method: 'HEAD' });

    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    for (const name of ['content-type', 'content-length', 'cache-control', 'content-security-policy']) {
      expect(head.headers[name]).toBe(got.headers[name]);
    }
    expect((await get('/', { accept: BROWSER }, { method: 'POST' })).body.toString()).toBe('the final 404');
  });
});

describe('the files of the console', () => {
  test('are kept for good, because their names change with them', async () => {
    const { status, headers, body } = await get('/assets/index-abc123.js', {});

    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(body.toString()).toBe(SCRIPT);
  });

  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['identity', undefined],
    ['br;q=0, gzip;q=0', undefined],
  ])('come in an encoding of %s', async (accepted, encoding) => {
    const { headers, body } = await get('/assets/index-abc123.js', { 'accept-encoding': accepted });
    const expected = encoding === 'br' ? brotliCompressSync(SCRIPT) : encoding === 'gzip' ? gzipSync(SCRIPT) : SCRIPT;

    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.vary).toBe('Accept-Encoding');
    expect(body.equals(Buffer.from(expected))).toBe(true);
  });

  test('come as they are where they were not compressed', async () => {
    const { headers } = await get('/assets/icon-abc123.svg', { 'accept-encoding': 'br, gzip' });

    expect(headers['content-type']).toBe('image/svg+xml');
    expect(headers['content-encoding']).toBeUndefined();
  });

  // Guarantees that nothing but the build can be read, however a path is written.
  test.each([
    '/assets/../secret.txt',
    '/assets/../../secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/%2e%2e/%2e%2e/secret.txt',
    '/assets/..\\..\\secret.txt',
    '/assets/deeper/index.js',
    '/assets/deeper%2findex.js',
    '/assets/linked-abc123.js',
    '/assets/index-abc123.js.br',
    '/assets/index-abc123.js%00',
    '/assets/__proto__',
    '/assets/',
    '//secret.txt',
    '/index.html',
    '/../secret.txt',
  ])('%s is no file', async (path) => {
    const { status, body } = await get(path, {});

    expect(status).toBe(404);
    expect(body.toString()).toBe('the final 404');
  });
});

describe('before the console is built', () => {
  const bare = { port: unbuilt.port };

  test('the front page explains that and links to the API reference', async () => {
    const { status, headers, body } = await get('/', {}, bare);

    expect(status).toBe(200);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(body.toString()).toContain('has not been built');
    expect(body.toString()).toContain('href="/docs"');
  });

  test('other pages do not exist', async () => {
    expect((await get('/sign-in', undefined, bare)).status).toBe(404);
    expect((await get('/sign-in', {}, bare)).body.toString()).toBe('the final 404');
    expect((await get('/assets/index-abc123.js', {}, bare)).body.toString()).toBe('the final 404');
  });
});

// Guarantees that the console takes nothing away from the service around it.
apiTest('in the service, an unknown path is a problem document as before', async ({ api }) => {
  for (const path of ['/no-such', '/%zz', '/assets/no-such.js', '/dev/mail/no-such']) {
    expect(await api.anonymous.get(path)).toBeProblem('route_not_found');
  }
  expect((await api.anonymous.get('/healthz')).status).toBe(200);
});

test('the name, color and logo of the operator are in the page, as files that the policy allows', async () => {
  const logo = { type: 'image/svg+xml', body: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>') };
  const { server, port } = await serve(built, { name: 'A "quoted" & Söhne', color: '#7a0033', logo });
  try {
    const page = await get('/', { accept: BROWSER, 'accept-encoding': 'identity' }, { port });
    const html = page.body.toString();
    expect(html).toContain('<title>A &quot;quoted&quot; &amp; Söhne</title>');
    expect(html).toContain('<meta name="application-name" content="A &quot;quoted&quot; &amp; Söhne">');
    expect(html).not.toContain('<style');
    expect(page.headers['content-security-policy']).toContain("style-src 'self';");
    const style = /href="(\/assets\/brand-\w+\.css)"/.exec(html)?.[1] ?? '';
    expect((await get(style, {}, { port })).body.toString()).toContain('--brand:#7a0033;');
    const picture = /name="roster-logo" content="(\/assets\/logo-\w+\.svg)"/.exec(html)?.[1] ?? '';
    expect((await get(picture, {}, { port })).headers['content-type']).toBe('image/svg+xml');
    const packed = await get('/', { accept: BROWSER, 'accept-encoding': 'gzip' }, { port });
    expect(gunzipSync(packed.body).toString()).toBe(html);
  } finally {
    server.close();
  }
});
