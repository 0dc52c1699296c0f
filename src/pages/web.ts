import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Router, type Request, type Response } from 'express';
import type { Config } from '../config/config.ts';
import { createCookies } from '../http/cookies.ts';
import { CACHE_FOREVER, sendFile, type EncodedFile } from './asset.ts';
import { brandPage, createLogo, type Branding } from './brand.ts';
import { escapeHtml } from './html.ts';

/** The output directory of Vite. */
const BUILT = join(import.meta.dirname, '../../dist/web');

/** The paths of the console. Browsers get the console for other paths too, and it shows that the page does not exist. */
const ROUTES =
  /^\/(?:(?:sign-in|sign-up|sign-out|verify-email|check-email|email-sign-in|sign-in-link|forgot-password|reset-password|confirm-email|invitation|account|teams|api-keys|developer|operator|oauth\/consent)(?:\/.*)?)?$/;

/** Paths that never belong to the console. */
const OTHERS =
  /^\/(?:api|trpc|oauth|assets|docs|problems|pictures|clients|healthz|readyz|metrics|\.well-known)(?:\/|$)/i;

/** The page, and the files that it loads, by path. */
type Shell = {
  readonly page: EncodedFile;
  readonly sessionPage: EncodedFile;
  readonly assets: ReadonlyMap<string, EncodedFile>;
};

/**
 * Serves the web console: `index.html` for its pages, which says whether there is a session cookie, and the hashed files
 * that it loads. All files are read once, so that the path of a request never reaches the disk, and a new build cannot
 * mix with an old one.
 */
export function webPages({ baseUrl, ...branding }: Pick<Config, 'baseUrl'> & Branding, directory = BUILT): Router {
  const shell = readShell(directory, branding);
  const cookies = createCookies(baseUrl);
  const logo = createLogo(branding.brand.logo);
  const pages = Router();
  // Where password managers look for the page (W3C, A Well-Known URL for Changing Passwords).
  pages.get('/.well-known/change-password', (_req, res) => res.redirect(302, '/account#password'));
  // Compares the path as it was sent: a path that does not decode is unknown, like others.
  pages.use((req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') next();
    else if (!serveAsset(req, res) && !servePage(req, res)) next();
  });
  return pages;

  function serveAsset(req: Request, res: Response): boolean {
    // Other pages than the console also show the logo.
    const asset = req.path === logo?.path ? logo.file : shell?.assets.get(req.path);
    if (asset === undefined) return false;
    res.set('Cache-Control', CACHE_FOREVER);
    sendFile(req, res, asset);
    return true;
  }

  function servePage(req: Request, res: Response): boolean {
    const isRoute = shell === undefined ? req.path === '/' : ROUTES.test(req.path);
    if (!isRoute && (OTHERS.test(req.path) || !isBrowser(req))) return false;
    res.status(isRoute ? 200 : 404).set({ ...HEADERS, 'Cache-Control': 'no-store' });
    if (shell === undefined) {
      res.type('html').send(renderNotBuilt(baseUrl));
      return true;
    }
    // Whether there is a session, not whose: pages ask the API, as for all data.
    const { session = '' } = cookies.read(req.headers.cookie);
    sendFile(req, res.vary('Cookie'), session === '' ? shell.page : shell.sessionPage);
    return true;
  }
}

/** Only browsers accept HTML by name; other clients get a problem document. */
const isBrowser = ({ headers }: Request): boolean => /\btext\/html\b/i.test(headers.accept ?? '');

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    // The console has no style element. The policy does not apply to styles that React sets by script.
    "style-src 'self'",
    // Pictures are served from here, so that no other server learns who reads.
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  // The URLs of these pages contain the tokens of emailed links.
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

/** Reads the built console. @returns undefined if it was not built */
function readShell(directory: string, branding: Branding): Shell | undefined {
  const index = readFiles(directory, '/').get('/index.html');
  if (index === undefined) return undefined;
  const { style, ...pages } = brandPage(index.body.toString(), branding);
  return { ...pages, assets: readFiles(join(directory, 'assets'), '/assets/').set(style.path, style.file) };
}

/** Reads the files of a directory, without its subdirectories, by the path of their URL. */
function readFiles(directory: string, path: string): Map<string, EncodedFile> {
  const names = listNames(directory);
  const read = (name: string) => readFileSync(join(directory, name));
  const files = names.flatMap((name): [string, EncodedFile][] => {
    const type = TYPES[extname(name)];
    if (type === undefined) return [];
    const br = names.includes(`${name}.br`) ? { br: read(`${name}.br`) } : {};
    const gzip = names.includes(`${name}.gz`) ? { gzip: read(`${name}.gz`) } : {};
    return [[path + name, { type, body: read(name), ...br, ...gzip }]];
  });
  return new Map(files);
}

function listNames(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

const renderNotBuilt = (baseUrl: string): string => `<!doctype html>
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
<p><a href="/docs">The API reference</a> is available without it.</p>
</main>
</body>
</html>
`;
