import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Router, type Request } from 'express';
import type { Config } from '../config/config.ts';
import { escapeHtml, isolateHtml } from './html.ts';
import { isLocalRequest } from './local-request.ts';
import { createPlainPages, DEVELOPMENT } from './plain.ts';
import { THEME_SOURCE } from './theme.ts';

const LATEST = 100;
/** File names of complete emails; they sort by time. */
const FILE = /^[\dTZ.-]+-[0-9a-f]{8}\.eml$/;

type Settings = Pick<Config, 'baseUrl' | 'dataDir' | 'isDevelopment' | 'brand'>;

/**
 * `GET /dev/mail`: the emails that were written to files because no SMTP server is configured. They contain sign-in
 * links, so the pages exist only for clients on this machine, and only without an SMTP server.
 */
export function devMailPages({ baseUrl, dataDir, isDevelopment, brand }: Settings): Router {
  const directory = join(dataDir, 'mail');
  const { style, show } = createPlainPages('/dev/mail/style.css', brand, {
    site: 'email',
    headers: HEADERS,
    links: DEVELOPMENT,
  });

  const pages = Router();
  pages.use('/dev/mail', (req, _res, next) => {
    if (isDevelopment && isLocalRequest(req, baseUrl)) next();
    else next('router');
  });
  pages.get('/dev/mail', async (_req, res) => {
    const names = await listLatest(directory);
    const mails = await Promise.all(names.map(async (name) => ({ name, mail: await read(join(directory, name)) })));
    show(res, 'Emails', list(mails.flatMap(({ name, mail }) => (mail === undefined ? [] : { name, mail }))));
  });
  pages.get(style.path, style.serve);
  pages.get('/dev/mail/:name', async (req, res, next) => {
    const mail = await find(req);
    if (mail === undefined) next();
    else show(res, mail.subject, renderEmail(req.params.name, mail, baseUrl));
  });
  pages.get('/dev/mail/:name/html', async (req, res, next) => {
    const mail = await find(req);
    if (mail === undefined) next();
    else res.set(CONTENT_HEADERS).type('html').send(mail.html);
  });
  return pages;

  async function find({ params }: Request<{ name: string }>): Promise<Mail | undefined> {
    const names = await listLatest(directory);
    return names.includes(params.name) ? read(join(directory, params.name)) : undefined;
  }
}

type Mail = {
  readonly subject: string;
  readonly to: string;
  readonly date: string;
  readonly text: string;
  readonly html: string;
};

async function listLatest(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => FILE.test(name))
    .toSorted()
    .toReversed()
    .slice(0, LATEST);
}

/** Returns an email, or undefined for a file that was deleted or cannot be read. */
async function read(file: string): Promise<Mail | undefined> {
  // Loaded on demand, because no other part of the service parses emails.
  const { default: PostalMime } = await import('postal-mime');
  try {
    const { subject, to, date, text, html } = await PostalMime.parse(await readFile(file));
    const addresses = (to ?? []).map(({ address }) => address ?? '').join(', ');
    return { subject: subject ?? '', to: addresses, date: date ?? '', text: text ?? '', html: html ?? '' };
  } catch {
    return undefined;
  }
}

const list = (mails: readonly { name: string; mail: Mail }[]): string => `<h1>Emails</h1>
<p>No mail server is configured, so emails are written to files. These are the latest ${LATEST} at most.</p>
${mails.length === 0 ? '<p>There are none.</p>' : table(mails)}`;

const table = (mails: readonly { name: string; mail: Mail }[]): string => `<table>
<thead><tr><th scope="col">Subject</th><th scope="col">To</th><th scope="col">Date</th></tr></thead>
<tbody>
${mails.map(row).join('\n')}
</tbody>
</table>`;

const row = ({ name, mail }: { name: string; mail: Mail }): string =>
  `<tr><td><a href="/dev/mail/${escapeHtml(name)}">${isolateHtml(mail.subject)}</a></td><td>${isolateHtml(mail.to)}</td><td>${escapeHtml(mail.date)}</td></tr>`;

const renderEmail = (
  name: string,
  { subject, to, date, text }: Mail,
  baseUrl: string,
): string => `<nav><a href="/dev/mail">All emails</a></nav>
<h1>${isolateHtml(subject)}</h1>
<dl>
<div><dt>To</dt><dd>${isolateHtml(to)}</dd></div>
<div><dt>Date</dt><dd>${escapeHtml(date)}</dd></div>
</dl>
<h2>Text</h2>
<pre tabindex="0" aria-label="The text of the email">${withLinks(text, baseUrl)}</pre>
<h2>HTML</h2>
<iframe sandbox src="/dev/mail/${escapeHtml(name)}/html" title="The email as HTML" width="100%" height="480"></iframe>`;

/** Renders text with links to this service. */
const withLinks = (text: string, baseUrl: string): string =>
  text
    .split(/(https?:\/\/[^\s<>"]+)/)
    .map((part) =>
      part.startsWith(`${baseUrl}/`) ? `<a href="${escapeHtml(part)}">${escapeHtml(part)}</a>` : escapeHtml(part),
    )
    .join('');

const HEADERS = {
  'Content-Security-Policy': `default-src 'none'; script-src ${THEME_SOURCE}; style-src 'self'; img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/** The email itself: styles only, also if it is opened outside the frame. */
const CONTENT_HEADERS = {
  'Content-Security-Policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  'X-Frame-Options': 'SAMEORIGIN',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};
