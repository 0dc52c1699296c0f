import type { Configuration } from 'oidc-provider';
import { escapeHtml } from '../pages/html.ts';
import type { Brand } from '../pages/brand.ts';
import { createPlainPages, type PlainPages } from '../pages/plain.ts';

const CSP =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const pages = new WeakMap<Brand, PlainPages>();

/** Returns the pages of a brand, of which a process has one. */
function getPages(brand: Brand): PlainPages {
  const known =
    pages.get(brand) ?? createPlainPages('/oauth/style.css', brand, { site: '', headers: {}, isThemed: false });
  pages.set(brand, known);
  return known;
}

export const getErrorStyle = (brand: Brand) => getPages(brand).style;

/** Returns how to render the page for a request that has no valid redirect URI to send the error to. */
export const createErrorRenderer =
  (brand: Brand): NonNullable<Configuration['renderError']> =>
  (ctx, { error, error_description: description = 'No details.' }) => {
    ctx.type = 'html';
    ctx.set('Content-Security-Policy', CSP);
    // oidc-provider describes internal errors as `oops! something went wrong`.
    ctx.body = renderPage(brand, error, error === 'server_error' ? 'internal server error' : description);
  };

/** Renders the same page, with its headers, for a request that does not reach oidc-provider. */
export const renderErrorPage = (brand: Brand, error: string, description: string) => ({
  headers: { 'Content-Security-Policy': CSP, 'X-Frame-Options': 'DENY' },
  body: renderPage(brand, error, description),
});

const renderPage = (brand: Brand, error: string, description: string): string =>
  getPages(brand).html(
    'The application cannot be connected',
    `<h1>The application cannot be connected</h1>
<p>Its request was rejected. Go back to the application and try again. If the error persists, send these details to its developer:</p>
<dl>
<div><dt>Error</dt><dd><code>${escapeHtml(error)}</code></dd></div>
<div><dt>Reason</dt><dd>${escapeHtml(description)}</dd></div>
</dl>`,
  );
