import { readFileSync } from 'node:fs';
import { Router } from 'express';
import { createAsset, type Asset } from './asset.ts';
import { createBrandStyle, type Brand } from './brand.ts';
import { escapeHtml } from './html.ts';
import { createSite, CSS } from './plain.ts';
import { THEME_SCRIPT, THEME_SOURCE } from './theme.ts';
import { loadScalarScript } from './scalar.ts';

const JAVASCRIPT = 'text/javascript; charset=utf-8';

type Reference = { readonly title: string; readonly document: string; readonly scheme: string };

const REFERENCES: Readonly<Record<string, Reference>> = {
  '/docs': { title: 'API reference', document: '/api/v1/openapi.json', scheme: 'bearer' },
  '/docs/operator': {
    title: 'operator API reference',
    document: '/operator/v1/openapi.json',
    scheme: 'operatorKey',
  },
};

/**
 * `GET /docs` and `/docs/operator`: the references of the APIs, rendered by Scalar in the browser from the OpenAPI
 * documents. Load nothing from other hosts.
 */
export function docsPages(brand: Brand): Router {
  const start = createAsset('/docs/start.js', {
    type: JAVASCRIPT,
    body: readFileSync(new URL('./docs.start.js', import.meta.url)),
  });
  let loading: Promise<Asset> | undefined;
  // On the first visit instead of at startup, because most processes never serve one.
  const loadScalar = (): Promise<Asset> =>
    (loading ??= loadScalarScript().then(
      (script) => createAsset('/docs/scalar.js', { type: JAVASCRIPT, ...script }),
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    ));

  const pages = Router();
  for (const [path, reference] of Object.entries(REFERENCES)) {
    pages.get(path, async (_req, res) => {
      const scripts = [(await loadScalar()).path, start.path];
      const html = page(path, reference, scripts, brand);
      res.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-cache' }).type('html').send(html);
    });
  }
  pages.get(start.path, start.serve);
  pages.get('/docs/:file', async (req, res, next) => {
    const { path, serve } = await loadScalar();
    if (req.path === path) await serve(req, res, next);
    else next();
  });
  return pages;
}

const POLICY = [
  "default-src 'none'",
  `script-src 'self' ${THEME_SOURCE}`,
  // Scalar sets styles by script and in attributes.
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The header’s rules of plain.css, inline like those of Scalar, with its space above the reference. */
const STYLE = CSS.split('body {')[0] ?? '';

// In a section, because Scalar has a header of its own, and a page has one banner.
function page(path: string, reference: Reference, scripts: readonly string[], brand: Brand): string {
  const { title, document, scheme } = reference;
  const { icon, renderHeader } = createSite(brand);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(brand.name)} ${title}</title>
<link rel="icon" href="${icon}">
<style>${createBrandStyle(brand.color)}
${STYLE}
body { margin: 0; }
/* Targets of at least 24 pixels (WCAG 2.2, 2.5.8). Links within texts are not affected, nor what is larger. */
#reference :is(a, button, summary, [tabindex='0']):not([class*='min-h-'], .download-button) { min-height: 24px; }
#reference :is(button, summary):not([class*='min-w-'], .download-button) { min-width: 24px; }
.site { font: 0.875rem/1.6 system-ui, sans-serif; }
</style>
${THEME_SCRIPT}
${scripts.map((path) => `<script src="${path}" defer></script>`).join('\n')}
</head>
<body>
${renderHeader(path)}<noscript>This reference needs JavaScript. <a href="${document}">The OpenAPI document</a> has the same content.</noscript>
<section id="reference" data-document="${document}" data-scheme="${scheme}"></section>
</body>
</html>
`;
}
