import type { Configuration } from 'oidc-provider';
import { escapeHtml } from '../pages/html.ts';
import { createPlainPages } from '../pages/plain.ts';

const CSP =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const { style, html } = createPlainPages('/oauth/style.css', { site: 'Roster', headers: {} });

export { style as errorStyle };

/** Renders the page for a request that has no valid redirect URI to send the error to. */
export const renderError: NonNullable<Configuration['renderError']> = (
  ctx,
  { error, error_description: description = 'No details.' },
) => {
  ctx.type = 'html';
  ctx.set('Content-Security-Policy', CSP);
  // oidc-provider describes internal errors as `oops! something went wrong`.
  ctx.body = renderPage(error, error === 'server_error' ? 'internal server error' : description);
};

/** Renders the same page, with its headers, for a request that does not reach oidc-provider. */
export const renderErrorPage = (error: string, description: string) => ({
  headers: { 'Content-Security-Policy': CSP, 'X-Frame-Options': 'DENY' },
  body: renderPage(error, description),
});

const renderPage = (error: string, description: string): string =>
  html(
    'The application cannot be connected',
    `<h1>The application cannot be connected</h1>
<p>Its request was rejected. Go back to the application and try again. If the error persists, send these details to its developer:</p>
<dl>
<div><dt>Error</dt><dd><code>${escapeHtml(error)}</code></dd></div>
<div><dt>Reason</dt><dd>${escapeHtml(description)}</dd></div>
</dl>`,
  );
