import { readFileSync } from 'node:fs';
import type { Response } from 'express';
import { createAsset, type Asset } from './asset.ts';
import { escapeHtml } from './html.ts';

export type PlainPages = {
  readonly style: Asset;
  /** Sends a page. `main` is HTML. */
  readonly show: (res: Response, title: string, main: string) => void;
  /** Renders a page. `main` is HTML. */
  readonly html: (title: string, main: string) => string;
};

type Frame = {
  /** The site name at the end of the page title. */
  readonly site: string;
  readonly headers: Readonly<Record<string, string>>;
};

const PUBLIC: Frame = {
  site: 'Roster API',
  headers: {
    'Content-Security-Policy':
      "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'Cache-Control': 'public, max-age=300',
  },
};

/** Creates pages of text without scripts, with one shared style sheet. */
export function createPlainPages(stylePath: string, { site, headers } = PUBLIC): PlainPages {
  const style = createAsset(stylePath, {
    type: 'text/css; charset=utf-8',
    body: readFileSync(new URL('./plain.css', import.meta.url)),
  });
  const html = (title: string, main: string) => page(style.path, `${title} · ${site}`, main);
  return {
    style,
    html,
    show: (res, title, main) => void res.set(headers).type('html').send(html(title, main)),
  };
}

const page = (stylePath: string, title: string, main: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylePath}">
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
