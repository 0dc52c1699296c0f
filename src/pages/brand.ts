import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { lighten, lightenBelowWhite, type Color } from '../color.ts';
import type { Config } from '../config/config.ts';
import type { EncodedFile } from './asset.ts';
import { escapeHtml } from './html.ts';

export type Brand = Config['brand'];

export type Branding = Pick<Config, 'brand' | 'isDevelopment'>;

/** The lightest surface of the console in dark mode, on which links and icons in the brand color are (palette.css). */
const DARK_SURFACE = '#2c322f';

/**
 * Writes the operator's name, color and logo into the built page. The color is a style sheet of its own, because the
 * Content-Security-Policy allows no inline style. `sessionPage` is for browsers with a session cookie: it loads the
 * scripts of a page before the API says whose session it is (`src/web/main.tsx`).
 */
export function brandPage(html: string, { brand: { name, color, logo }, isDevelopment }: Branding) {
  const style = createFile('brand', 'css', {
    type: 'text/css; charset=utf-8',
    body: Buffer.from(createBrandStyle(color)),
  });
  const picture = createLogo(logo);
  const tags = [
    `<meta name="application-name" content="${escapeHtml(name)}">`,
    ...(picture === undefined ? [] : [`<meta name="roster-logo" content="${picture.path}">`]),
    ...(isDevelopment ? ['<meta name="roster-development" content="">'] : []),
    `<link rel="stylesheet" href="${style.path}">`,
  ];
  const branded = html
    .replace(/<title>[^<]*<\/title>/, () => `<title>${escapeHtml(name)}</title>`)
    .replace(/(<link rel="icon" href=")[^"]*"[^>]*/, (icon, start: string) =>
      picture === undefined ? icon : `${start}${picture.path}" /`,
    );
  const toPage = (more: readonly string[]): EncodedFile => {
    const body = Buffer.from(branded.replace('</head>', () => `${[...tags, ...more].join('\n')}\n</head>`));
    return { type: 'text/html; charset=utf-8', body, br: brotliCompressSync(body), gzip: gzipSync(body) };
  };
  return { page: toPage([]), sessionPage: toPage(['<meta name="roster-session" content="">']), style };
}

/** Returns the operator's logo as a file that pages load, or undefined if there is none. */
export const createLogo = (logo: Brand['logo']) =>
  logo === null ? undefined : createFile('logo', logo.type === 'image/png' ? 'png' : 'svg', logo);

/** Text in these colors, and white text on them, has a contrast of at least 4.5:1 for every color that the configuration accepts. */
export const getBrandColors = (color: Color) => ({
  brand: color,
  'brand-dark': lightenBelowWhite(color),
  'brand-ink-dark': lighten(color, DARK_SURFACE, 4.5),
});

/** Returns the rule that sets the variables of the color. */
export const createBrandStyle = (color: Color): string =>
  `:root{${Object.entries(getBrandColors(color))
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')}}`;

function createFile(name: string, extension: string, file: EncodedFile) {
  const hash = createHash('sha256').update(file.body).digest('hex').slice(0, 12);
  return { path: `/assets/${name}-${hash}.${extension}`, file };
}
