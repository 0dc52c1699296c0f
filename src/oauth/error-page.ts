import type { Configuration } from 'oidc-provider';
import { escapeHtml } from '../pages/html.ts';
import { createPlainPages } from '../pages/plain.ts';

const CSP =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const { style, html } = createPlainPages('/oauth/style.css', { site: 'Roster', headers: {} });

export { style as errorStyle };

/** The page for a request that cannot be answered to its client, because nobody knows where that is. */
export const renderError: NonNullable<Configuration['renderError']> = (
  ctx,
  { error, error_description: description = 'none given' },
) => {
  ctx.type = 'html';
  ctx.set('Content-Security-Policy', CSP);
  // The engine's own words for a fault say nothing.
  ctx.body = pageOf(error, error === 'server_error' ? 'the service has failed' : description);
};

/** The same page, with its headers, for a request that the engine does not get to see. */
export const errorPage = (error: string, description: string) => ({
  headers: { 'Content-Security-Policy': CSP, 'X-Frame-Options': 'DENY' },
  body: pageOf(error, description),
});

const pageOf = (error: string, description: string): string =>
  html(
    'The application cannot be connected',
    `<h1>The application cannot be connected</h1>
<p>Its request was refused. Go back to the application and try again; if it happens again, tell its maker:</p>
<dl>
<div><dt>Error</dt><dd><code>${escapeHtml(error)}</code></dd></div>
<div><dt>Reason</dt><dd>${escapeHtml(description)}</dd></div>
</dl>`,
  );
