import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import express from 'express';
import { afterAll, describe, expect, test } from 'vitest';
import { PROBLEMS, problemSlug, type ProblemCode } from '../../src/problems/catalogue.ts';
import { clientPages } from '../../src/pages/clients.ts';
import { docsPages } from '../../src/pages/docs.ts';
import { eventPages } from '../../src/pages/events.ts';
import { escapeHtml } from '../../src/pages/html.ts';
import { problemPages } from '../../src/pages/problems.ts';
import { procedurePages } from '../../src/pages/procedures.ts';
import { webPages } from '../../src/pages/web.ts';
import { renderErrorPage } from '../../src/oauth/error-page.ts';

const BASE_URL = 'https://roster.test';
const codes = Object.keys(PROBLEMS) as ProblemCode[]; // Object.keys widens the keys to string

const app = express();
const packed = join(mkdtempSync(join(tmpdir(), 'roster-pages-')), 'typescript.tgz');
writeFileSync(packed, 'a packed client');
const logo = { type: 'image/svg+xml', body: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>') };
const brand = { name: 'A & B', color: '#7a0033', logo } as const;
app.use(eventPages(brand), procedurePages({}, brand), docsPages(brand), problemPages({ baseUrl: BASE_URL, brand }));
app.use(clientPages(dirname(packed)), webPages({ baseUrl: BASE_URL, brand, isDevelopment: false }, dirname(packed)));
app.use((_req, res) => void res.status(404).send('the final 404'));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo; // listening on TCP
afterAll(() => {
  server.close();
  rmSync(dirname(packed), { recursive: true });
});

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const linksOf = (html: string): string[] => [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url);
/** What a policy allows inline scripts by. */
const hashesOf = (html: string): string[] =>
  [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(
    ([, source = '']) => `'sha256-${createHash('sha256').update(source).digest('base64')}'`,
  );
const directives = (headers: Headers): Map<string, string> =>
  new Map(
    (headers.get('content-security-policy') ?? '')
      .split('; ')
      .map((part) => part.split(/ (.*)/, 2) as [string, string]),
  ); // name and sources

describe('GET /clients/typescript.tgz', () => {
  test('is the packed client, asked for again each time, and unknown if it was not built', async () => {
    const { status, headers, text } = await get('/clients/typescript.tgz');
    expect([status, headers.get('content-type'), text]).toEqual([200, 'application/gzip', 'a packed client']);
    expect(headers.get('cache-control')).toBe('public, no-cache');
    const etag = headers.get('etag') ?? '';
    expect((await get('/clients/typescript.tgz', { 'if-none-match': etag, 'cache-control': 'max-age=0' })).status).toBe(
      304,
    );

    const unbuilt = express()
      .use(clientPages(join(dirname(packed), 'none')))
      .listen(0, '127.0.0.1');
    await once(unbuilt, 'listening');
    const answer = await fetch(
      `http://127.0.0.1:${(unbuilt.address() as AddressInfo).port}/clients/typescript.tgz`, // listening on TCP
    );
    unbuilt.close();
    expect(answer.status).toBe(404);
  });
});

describe('GET /problems', () => {
  test('lists every code with a link to its page', async () => {
    const { status, headers, text } = await get('/problems');

    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    for (const code of codes)
      expect(text.replaceAll('<wbr>', '')).toContain(
        `<a href="/problems/${problemSlug(code)}"><code>${code}</code></a>`,
      );
  });

  test.each(codes)('explains %s', async (code) => {
    const [httpStatus, title] = PROBLEMS[code];
    const { status, text } = await get(`/problems/${problemSlug(code)}`);

    expect(status).toBe(200);
    expect(text).toContain(`<h1>${escapeHtml(title)}</h1>`);
    expect(text).toContain(`<dd>${httpStatus} `);
    expect(text).toContain(escapeHtml(`"type": "${BASE_URL}/problems/${problemSlug(code)}"`));
    // The example is JSON, whose `detail` can contain backticks.
    expect(text.replace(/<pre[\s\S]*<\/pre>/, '')).not.toMatch(/`|undefined/);
  });

  test.each([
    '/problems/no-such-code',
    '/problems/validation_failed',
    '/problems/constructor',
    '/problems/%3Cscript%3E',
  ])('leaves %s to the final 404', async (path) => {
    expect(await get(path)).toMatchObject({ status: 404, text: 'the final 404' });
  });

  // Guarantees that a page can neither run nor load anything but its stylesheet and the script of the colors.
  test('allows itself a stylesheet, one script by its hash, and nothing else', async () => {
    const { headers, text } = await get('/problems/scope-missing');
    const policy = directives(headers);

    expect(policy.get('default-src')).toBe("'none'");
    expect(policy.get('style-src')).toBe("'self'");
    expect(policy.get('script-src')).toBe(hashesOf(text).join(' '));
    expect(hashesOf(text)).toHaveLength(1);
    expect(text).not.toMatch(/<style| style=| on\w+=/);
    expect(linksOf(text).filter((url) => !url.startsWith('/') && url !== 'data:,')).toEqual([]);
  });

  test('its stylesheet can be kept for good', async () => {
    const { text } = await get('/problems');
    const stylesheet = linksOf(text).find((url) => url.endsWith('.css')) ?? '';
    const { status, headers } = await get(stylesheet);

    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });
});

describe('GET /docs', () => {
  // Guarantees that the reference works offline and sends no request to other hosts.
  test('links to nothing beyond this origin, and may not reach it', async () => {
    const { status, headers, text } = await get('/docs');
    const policy = directives(headers);

    expect(status).toBe(200);
    expect(text).not.toMatch(/https?:|src="\/\//);
    expect(policy.get('default-src')).toBe("'none'");
    expect(policy.get('script-src')).toBe(["'self'", ...hashesOf(text)].join(' '));
    expect(policy.get('connect-src')).toBe("'self'");
    for (const sources of policy.values()) expect(sources).not.toMatch(/https?:|\*|unsafe-eval/);
  });

  test('runs no inline script but that of the colors, of which the policy has the hash', async () => {
    const { text } = await get('/docs');

    expect(hashesOf(text)).toHaveLength(1);
    expect(text).not.toMatch(/ on\w+=/);
  });

  test('its scripts are served here, to be kept for good', async () => {
    const { text } = await get('/docs');
    const scripts = linksOf(text).filter((url) => url.endsWith('.js'));

    expect(scripts).toHaveLength(2);
    for (const url of scripts) {
      const { status, headers } = await get(url);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
  });

  test("Scalar's script comes compressed, and plain to clients that cannot unpack it", async () => {
    const { text: html } = await get('/docs');
    const script = linksOf(html).find((url) => url.includes('scalar')) ?? '';
    const compressed = await get(script, { 'accept-encoding': 'br' });
    const plain = await get(script, { 'accept-encoding': 'identity' });

    expect(compressed.headers.get('content-encoding')).toBe('br');
    expect(plain.headers.get('content-encoding')).toBe(null);
    expect(plain.text.length).toBeGreaterThan(1_000_000);
    expect(plain.text === compressed.text).toBe(true);
  });

  // Guarantees that what Scalar offers beyond a reference stays off.
  test('the start script turns telemetry, agents, fonts and the proxy off', async () => {
    const { text: html } = await get('/docs');
    const { text } = await get(linksOf(html).find((url) => url.includes('start')) ?? '');

    for (const setting of [
      'telemetry: false',
      'agent: { disabled: true }',
      'mcp: { disabled: true }',
      'withDefaultFonts: false',
    ]) {
      expect(text).toContain(setting);
    }
    expect(text).not.toMatch(/https?:|proxyUrl/);
  });

  test('leaves other paths to the final 404', async () => {
    expect((await get('/docs/scalar-000000000000.js')).status).toBe(404);
    expect((await get('/docs/no/such')).status).toBe(404);
  });
});

test('escaping leaves nothing that HTML reads', () => {
  expect(escapeHtml(`<a href="x" title='y'>&amp;</a>`)).toBe(
    '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;',
  );
});

describe('the brand of the installation', () => {
  test.each(['/docs', '/docs/operator', '/docs/events', '/docs/procedures', '/problems', '/problems/rate-limited'])(
    'is on %s: its name, its logo from here, and its color',
    async (path) => {
      const { text, headers } = await get(path);
      expect(text).toMatch(/<title>[^<]*A &amp; B /);
      expect(text).toContain('<span>A &amp; B</span>');
      expect(text.replaceAll(/<(pre|p)\b[\s\S]*?<\/\1>/g, '')).not.toContain('Roster');
      const picture = /<img src="([^"]+)" alt=""/.exec(text)?.[1] ?? '';
      expect(text).toContain(`<link rel="icon" href="${picture}">`);
      expect((await get(picture)).text).toBe(logo.body.toString());
      expect(directives(headers).get('img-src')).toContain("'self'");
      const style = linksOf(text).find((url) => url.endsWith('.css'));
      expect(style === undefined ? text : (await get(style)).text).toContain('--brand:#7a0033;');
    },
  );

  test('is on the page of a rejected authorization', () => {
    const { body, headers } = renderErrorPage(brand, undefined, 'invalid_request', '<b>');
    expect(body).toContain('<span>A &amp; B</span>');
    expect(body).toContain('The application cannot be connected · A &amp; B</title>');
    expect(headers['Content-Security-Policy']).toContain("img-src 'self' data:");
  });

  test.each([
    ['de-CH, en;q=0.5', '<html lang="de" dir="ltr">', '<h1>Die Anwendung kann nicht verbunden werden</h1>'],
    ['ar-EG', '<html lang="ar" dir="rtl">', '<h1>لا يمكن ربط التطبيق</h1>'],
    ['xx', '<html lang="en" dir="ltr">', '<h1>The application cannot be connected</h1>'],
  ])('is in the language of the browser on the page of a rejected authorization: %s', (accepted, html, title) => {
    const { body } = renderErrorPage(brand, accepted, 'invalid_request', '<b>');
    expect(body).toContain(html);
    expect(body).toContain(title);
    expect(body).toContain('<dd lang="en" dir="ltr"><bdi>&lt;b&gt;</bdi></dd>');
  });
});
