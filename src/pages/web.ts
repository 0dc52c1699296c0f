import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Router, type Request, type Response } from 'express';
import type { Config } from '../config.ts';
import { chooseEncoding } from '../http/compression.ts';
import { escapeHtml } from './html.ts';

/** Where Vite puts the web console. */
const BUILT = join(import.meta.dirname, '../../dist/web');

/** The pages of the console. A browser gets it for other paths too, to say that there is no such page. */
const ROUTES =
  /^\/(?:(?:sign-in|sign-up|verify-email|check-email|email-sign-in|sign-in-link|forgot-password|reset-password|confirm-email|invitation|account|teams|api-keys|developer|operator|oauth\/consent)(?:\/.*)?)?$/;

/** What is never a page of the console, whoever asks. */
const OTHERS = /^\/(?:api|trpc|oauth|assets|docs|problems|healthz|readyz|metrics|\.well-known)(?:\/|$)/i;

/** One file in the encodings it was built in. */
type File = { readonly type: string; readonly body: Buffer; readonly br?: Buffer; readonly gzip?: Buffer };

/** The page, and what it loads by path. */
type Shell = { readonly index: File; readonly assets: ReadonlyMap<string, File> };

/**
 * The web console: `index.html` for its pages, and the hashed files that it loads. All of it is read
 * once, so that no path of a request ever reaches the disk, and a new build cannot mix with an old one.
 */
export function webPages({ baseUrl }: Pick<Config, 'baseUrl'>, directory = BUILT): Router {
  const shell = readShell(directory);
  const pages = Router();
  // By the path as it was sent: what does not decode is unknown like all the rest.
  pages.use((req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') next();
    else if (!serveAsset(req, res) && !servePage(req, res)) next();
  });
  return pages;

  function serveAsset(req: Request, res: Response): boolean {
    const asset = shell?.assets.get(req.path);
    if (asset === undefined) return false;
    res.set('Cache-Control', 'public, max-age=31536000, immutable');
    sendFile(req, res, asset);
    return true;
  }

  function servePage(req: Request, res: Response): boolean {
    const isRoute = shell === undefined ? req.path === '/' : ROUTES.test(req.path);
    if (!isRoute && (OTHERS.test(req.path) || !isBrowser(req))) return false;
    res.status(isRoute ? 200 : 404).set({ ...HEADERS, 'Cache-Control': 'no-store' });
    if (shell === undefined) res.type('html').send(notBuilt(baseUrl));
    else sendFile(req, res, shell.index);
    return true;
  }
}

/** Only browsers name HTML; other clients take anything, and are better off with a problem document. */
const isBrowser = ({ headers }: Request): boolean => /\btext\/html\b/i.test(headers.accept ?? '');

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    // The console has no style element; React sets styles of elements by script, which the policy is not about.
    "style-src 'self'",
    // Avatars are addresses that people enter.
    "img-src 'self' https: data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  // Addresses of these pages hold the tokens of links in mails.
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': [
    'camera=()',
    'geolocation=()',
    'microphone=()',
    'payment=()',
    'usb=()',
    'publickey-credentials-create=(self)',
    'publickey-credentials-get=(self)',
  ].join(', '),
};

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

function sendFile(req: Request, res: Response, file: File): void {
  res.set('Content-Type', file.type);
  if (file.br !== undefined || file.gzip !== undefined) res.vary('Accept-Encoding');
  const encoding = chooseEncoding(req.headers['accept-encoding']);
  const encoded = encoding === undefined ? undefined : file[encoding];
  if (encoding !== undefined && encoded !== undefined) res.set('Content-Encoding', encoding);
  res.send(encoded ?? file.body);
}

/** The console as it was built, or undefined where it was not. */
function readShell(directory: string): Shell | undefined {
  const index = filesOf(directory, '/').get('/index.html');
  return index === undefined ? undefined : { index, assets: filesOf(join(directory, 'assets'), '/assets/') };
}

/** The files right in a directory, by the path that each is served at. */
function filesOf(directory: string, path: string): ReadonlyMap<string, File> {
  const names = namesIn(directory);
  const read = (name: string) => readFileSync(join(directory, name));
  const files = names.flatMap((name): [string, File][] => {
    const type = TYPES[extname(name)];
    if (type === undefined) return [];
    const br = names.includes(`${name}.br`) ? { br: read(`${name}.br`) } : {};
    const gzip = names.includes(`${name}.gz`) ? { gzip: read(`${name}.gz`) } : {};
    return [[path + name, { type, body: read(name), ...br, ...gzip }]];
  });
  return new Map(files);
}

function namesIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

const notBuilt = (baseUrl: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Roster</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
<h1>Roster</h1>
<p>The service runs at ${escapeHtml(baseUrl)}, but its web console has not been built.</p>
<p><a href="/docs">The API reference</a> works without it.</p>
</main>
</body>
</html>
`;
