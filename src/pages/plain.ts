import { readFileSync } from 'node:fs';
import type { Response } from 'express';
import { createAsset, type Asset } from './asset.ts';
import { createBrandStyle, createLogo, type Brand } from './brand.ts';
import { neutralize } from '../messages/neutralize.ts';
import { DEFAULT_LANGUAGE, describeLanguage, type Language } from '../messages/languages.ts';
import { escapeHtml } from './html.ts';
import { THEME_CHOICE, THEME_SCRIPT, THEME_SOURCE } from './theme.ts';

export type PlainPages = {
  readonly style: Asset;
  /** Sends a page. `main` is HTML. */
  readonly show: (res: Response, title: string, main: string) => void;
  /** Renders a page. `main` is HTML. */
  readonly html: (title: string, main: string, options?: PageOptions) => string;
};

type PageOptions = {
  /** The link to this path, or to the list that it belongs to, is marked as the present one. */
  readonly path?: string;
  readonly language?: Language;
  /** The text of the link to the console, in this language. */
  readonly back?: string;
};

type Link = readonly [href: string, label: string];

type Frame = {
  /** What follows the name of the installation at the end of the page title. */
  readonly site: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The links at the top, by default those of the documentation. */
  readonly links?: readonly Link[];
  /** Whether the colors can be chosen, which needs a script that `headers` allow. By default they can. */
  readonly isThemed?: boolean;
};

const DOCUMENTATION: readonly Link[] = [
  ['/docs', 'API reference'],
  ['/docs/procedures', 'Procedures'],
  ['/docs/events', 'Events'],
  ['/problems', 'Error codes'],
];

export const DEVELOPMENT: readonly Link[] = [
  ['/dev/mail', 'Emails'],
  ['/dev/webhooks', 'Webhooks'],
];

const PUBLIC: Frame = {
  site: 'API',
  headers: {
    'Content-Security-Policy': `default-src 'none'; script-src ${THEME_SOURCE}; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'Cache-Control': 'public, max-age=300',
  },
};

/** Creates pages of text with one shared style sheet, and no script but that of the colors. */
export function createPlainPages(
  stylePath: string,
  brand: Brand,
  { site, headers, links = DOCUMENTATION, isThemed = true }: Frame = PUBLIC,
): PlainPages {
  const style = createAsset(stylePath, {
    type: 'text/css; charset=utf-8',
    body: Buffer.from(`${createBrandStyle(brand.color)}\n${CSS}`),
  });
  const { icon, renderHeader } = createSite(brand, links, isThemed);
  const html = (title: string, main: string, { path = '', language = DEFAULT_LANGUAGE, back }: PageOptions = {}) => {
    const whole = [title, `${brand.name} ${site}`.trim()].join(' · ');
    return page(
      { style: style.path, icon, isThemed, language },
      whole,
      `${renderHeader(path, back)}<main>\n${main}\n</main>`,
    );
  };
  return {
    style,
    html,
    show: (res, title, main) =>
      void res
        .set(headers)
        .type('html')
        .send(html(title, main, { path: res.req.path })),
  };
}

/** The style sheet, without the variables of the color. */
export const CSS = readFileSync(new URL('./plain.css', import.meta.url), 'utf8');

const LOGO =
  '<svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#12664f"/><g fill="#fff"><circle cx="11" cy="11" r="3"/><rect x="17" y="9.5" width="8" height="3" rx="1.5"/><circle cx="11" cy="21" r="3" opacity=".75"/><rect x="17" y="19.5" width="8" height="3" rx="1.5" opacity=".75"/></g></svg>';

/** Renders the icon and the header of pages outside of the console: the brand, links, and the way back to the console. */
export function createSite({ name, logo }: Brand, links: readonly Link[] = DOCUMENTATION, isThemed = true) {
  const path = createLogo(logo)?.path;
  const mark = path === undefined ? LOGO : `<img src="${path}" alt="" width="24" height="24">`;
  const renderHeader = (present: string, back = 'Back to the console') =>
    header(`${mark}<span>${escapeHtml(name)}</span>`, { links, isThemed, present, back });
  return { icon: path ?? 'data:,', renderHeader };
}

type Header = Required<Pick<Frame, 'links' | 'isThemed'>> & { readonly present: string; readonly back: string };

const header = (brand: string, { links, isThemed, present, back }: Header): string => `<header class="site">
<a class="site-brand" href="/">${brand}</a>
${links.length === 0 ? '' : `<nav aria-label="Pages">${links.map(([href, label]) => `<a href="${href}"${mark(href, links, present)}>${label}</a>`).join('\n')}</nav>`}
${isThemed ? THEME_CHOICE : ''}
<a class="site-back" href="/">${back}</a>
</header>
`;

/** The page of a list is that of the longest link that its path begins with. */
function mark(href: string, links: readonly Link[], present: string): string {
  const holders = links.map(([each]) => each).filter((each) => present === each || present.startsWith(`${each}/`));
  return holders.toSorted((a, b) => b.length - a.length)[0] === href ? ' aria-current="page"' : '';
}

type Head = {
  readonly style: string;
  readonly icon: string;
  readonly isThemed: boolean;
  readonly language: Language;
};

const page = ({ style, icon, isThemed, language }: Head, title: string, body: string): string => `<!doctype html>
<html lang="${language}" dir="${describeLanguage(language).direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(neutralize(title))}</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${style}">
${isThemed ? THEME_SCRIPT : ''}
</head>
<body>
${body}
</body>
</html>
`;
