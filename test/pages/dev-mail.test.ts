import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { createMailer, type Mail } from '../../src/email/mailer.ts';
import { startApi, test, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';

const LINK = 'http://localhost:3000/invitation?token=rst_inv_x&amp=1';

/** Writes mails as the service does. */
async function write(api: Api, ...mails: Partial<Mail>[]): Promise<void> {
  const mailer = createMailer(api.services.config);
  for (const mail of mails) {
    await mailer.send({
      id: 'mail_test',
      to: 'ada@example.com',
      subject: 'A subject',
      text: 'A text',
      html: '<p>A text</p>',
      ...mail,
    });
  }
  mailer.close();
}

const get = (api: Api, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  api.anonymous.send({ method: 'GET', path, headers: { host: 'localhost:3000', ...headers } });

const linksIn = ({ text }: Answer): string[] =>
  [...text.matchAll(/href="(\/dev\/mail\/[^"]+\.eml)"/g)].map(([, path = '']) => path);

/** The page of the newest mail whose subject is given. */
async function open(api: Api, subject: string): Promise<{ path: string; answer: Answer }> {
  const list = await get(api, '/dev/mail');
  const at = list.text.indexOf(`><bdi>${subject}</bdi></a>`);
  const path = /href="([^"]+)"$/.exec(list.text.slice(0, at))?.[1] ?? '';
  return { path, answer: await get(api, path) };
}

const refused = async (api: Api, headers?: Record<string, string>) => {
  const unknown = await get(api, '/no-such-path', headers);
  for (const path of ['/dev/mail', '/dev/mail/style.css', '/dev/mail/x.eml', '/dev/mail/x.eml/html']) {
    const answer = await get(api, path, headers);
    expect(answer).toBeProblem('route_not_found');
    expect({ ...answer.body, requestId: '' }).toEqual({ ...unknown.body, requestId: '' });
    expect(Object.keys(answer.headers)).toEqual(Object.keys(unknown.headers));
  }
};

describe('GET /dev/mail', () => {
  test('lists the emails, newest first', async ({ api }) => {
    await write(api, { subject: 'First', to: 'ada@example.com' });
    // The names hold milliseconds.
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.now());
    await write(api, { subject: 'Second – “quoted”', to: 'grace@example.com' });

    const { status, headers, text } = await get(api, '/dev/mail');

    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(text.indexOf('Second – “quoted”')).toBeGreaterThan(0);
    expect(text.indexOf('Second – “quoted”')).toBeLessThan(text.indexOf('First'));
    expect(text).toContain('grace@example.com');
  });

  test('shows an email, with links only to this service', async ({ api }) => {
    const words = 'Grüße, “Ada”. '.repeat(20);
    await write(api, { subject: 'With a link', text: `${words}\n${LINK}\nhttps://example.com/elsewhere <b>` });

    const { answer } = await open(api, 'With a link');

    expect(answer.status).toBe(200);
    expect(answer.text).toContain(words);
    expect(answer.text).toContain(`<a href="${LINK.replaceAll('&', '&amp;')}">`);
    expect(answer.text).toContain('https://example.com/elsewhere &lt;b&gt;');
    expect(answer.text).not.toContain('href="https://example.com');
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).toMatch(/script-src 'sha256-[\w+/]{43}='; style-src/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  // Guarantees that the content of an email runs nothing, loads nothing and navigates nowhere, in the frame and outside.
  test('the HTML of an email is in a sandbox without scripts and remote content', async ({ api }) => {
    const html = '<p style="color:red">A text</p><script>alert(1)</script><img src="https://example.com/pixel">';
    await write(api, { subject: 'Hostile <script>alert(1)</script>', html });

    const { path, answer } = await open(api, 'Hostile &lt;script&gt;alert(1)&lt;/script&gt;');
    const content = await get(api, `${path}/html`);

    expect(answer.text).toContain(`<iframe sandbox src="${path}/html"`);
    expect(answer.text).not.toContain('<script>alert');
    expect(content.text).toContain(html);
    expect(content.headers['content-type']).toBe('text/html; charset=utf-8');
    const policy = String(content.headers['content-security-policy']).split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(['sandbox', "default-src 'none'", 'img-src data:', "frame-ancestors 'self'"]),
    );
    expect(policy.join()).not.toMatch(/script-src|https?:|allow-/);
  });

  test('shows only files of the mailer', async ({ api }) => {
    const directory = join(api.services.config.dataDir, 'mail');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(api.services.config.dataDir, 'secret.eml'), 'Subject: Secret\n\nSecret');
    for (const name of ['notes.txt', '.2026-01-01T00-00-00.000Z-00000000.tmp', 'other.eml']) {
      writeFileSync(join(directory, name), 'Subject: Other\n\nOther');
    }

    expect((await get(api, '/dev/mail')).text).not.toContain('Other');
    for (const name of [
      'other.eml',
      'notes.txt',
      '..%2fsecret.eml',
      '%2e%2e/secret.eml',
      '2026-01-01T00-00-00.000Z-00000000.eml',
    ]) {
      expect(await get(api, `/dev/mail/${name}`)).toBeProblem('route_not_found');
    }
  });

  test('an email that cannot be read does not hide the others', async ({ api }) => {
    const directory = join(api.services.config.dataDir, 'mail');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, '2026-01-02T00-00-00.000Z-00000000.eml'), Buffer.from([0, 255, 10, 13, 200]));
    symlinkSync(join(directory, 'gone'), join(directory, '2026-01-03T00-00-00.000Z-00000000.eml'));
    await write(api, { subject: 'Readable' });

    const { status, text } = await get(api, '/dev/mail');

    expect(status).toBe(200);
    expect(text).toContain('Readable');
  });

  test('lists the latest hundred', async () => {
    const api = await startApi();
    const directory = join(api.services.config.dataDir, 'mail');
    mkdirSync(directory, { recursive: true });
    for (let i = 100; i < 205; i++) {
      writeFileSync(
        join(directory, `2026-01-01T00-00-00.${i}Z-00000000.eml`),
        `To: ada@example.com\nSubject: Mail ${i}\n\nText`,
      );
    }

    const list = await get(api, '/dev/mail');
    const oldest = await get(api, '/dev/mail/2026-01-01T00-00-00.100Z-00000000.eml');
    await api.close();

    expect(linksIn(list)).toHaveLength(100);
    expect(list.text).toContain('Mail 204');
    expect(list.text).not.toContain('Mail 104<');
    expect(oldest).toBeProblem('route_not_found');
  });

  test.for(['localhost:3000', 'roster.localhost:3000', '127.0.0.1:3000', '127.1.2.3:3000', '[::1]:3000'])(
    'is there for a browser on this machine under the name %s',
    async (host, { api }) => {
      expect((await get(api, '/dev/mail', { host })).status).toBe(200);
      expect((await get(api, '/dev/webhooks', { host })).status).toBe(200);
    },
  );

  test('shows that there are none', async () => {
    const api = await startApi();
    const { status, text } = await get(api, '/dev/mail');
    await api.close();

    expect(status).toBe(200);
    expect(text).toContain('There are none');
  });
});

// Guarantees that only clients on this machine can read links that sign in, and that others do not learn that they exist.
describe('for all other clients the page does not exist', () => {
  test.for([
    ['another host', { host: 'roster.example' }],
    ['another port', { host: 'localhost:8080' }],
    ['a name that only contains a loopback name', { host: 'localhost.roster.example:3000' }],
    ['a name that only ends like one', { host: 'notlocalhost:3000' }],
    ['an address of another machine', { host: '128.0.0.1:3000' }],
    ['a user before a loopback name', { host: 'roster.example@localhost:3000' }],
    ['a proxy that says so', { 'x-forwarded-for': '203.0.113.9' }],
    ['a proxy that says so by RFC 7239', { forwarded: 'for=203.0.113.9' }],
  ] as const)('for a request by %s', async ([, headers], { api }) => {
    await write(api, { subject: 'Private' });

    await refused(api, headers);
  });

  test.for([
    ['a mail server', { SMTP_URL: 'smtp://127.0.0.1:2525' }, 'localhost:3000'],
    ['a public BASE_URL', { BASE_URL: 'https://roster.example' }, 'roster.example'],
    ['a proxy in front', { TRUST_PROXY: '1' }, 'localhost:3000'],
  ] as const)('with %s', async ([, settings, host]) => {
    const api = await startApi(settings);
    await write(api, { subject: 'Private' }).catch(() => undefined);
    await refused(api, { host });
    await api.close();
  });
});
