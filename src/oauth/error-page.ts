import type { ErrorRequestHandler } from 'express';
import type { Configuration } from 'oidc-provider';
import { readAcceptLanguage } from '../http/accept-language.ts';
import { DEFAULT_LANGUAGE } from '../messages/languages.ts';
import { REJECTED_AUTHORIZATION } from '../messages/rejected-authorization.ts';
import { isolateHtml } from '../pages/html.ts';
import type { Brand } from '../pages/brand.ts';
import { createPlainPages, type PlainPages } from '../pages/plain.ts';
import { ParametersTooLargeError } from './request-parameters.ts';

const CSP =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const pages = new WeakMap<Brand, PlainPages>();

/** Returns the pages of a brand, of which a process has one. */
function getPages(brand: Brand): PlainPages {
  const known =
    pages.get(brand) ??
    createPlainPages('/oauth/style.css', brand, { site: '', headers: {}, links: [], isThemed: false });
  pages.set(brand, known);
  return known;
}

export const getErrorStyle = (brand: Brand) => getPages(brand).style;

/** Returns how to render the page for a request that has no valid redirect URI to send the error to, in the language of the browser. */
export const createErrorRenderer =
  (brand: Brand): NonNullable<Configuration['renderError']> =>
  (ctx, { error, error_description: description = 'No details.' }) => {
    ctx.type = 'html';
    ctx.set('Content-Security-Policy', CSP);
    // oidc-provider describes internal errors as `oops! something went wrong`.
    const reason = error === 'server_error' ? 'internal server error' : description;
    ctx.body = renderPage(brand, ctx.get('accept-language'), error, reason);
  };

/** Renders the same page, with its headers, for a request that does not reach oidc-provider. */
export const renderErrorPage = (
  brand: Brand,
  acceptLanguage: string | undefined,
  error: string,
  description: string,
) => ({
  headers: { 'Content-Security-Policy': CSP, 'X-Frame-Options': 'DENY' },
  body: renderPage(brand, acceptLanguage, error, description),
});

/** Creates the handler that shows this page for a request whose parameters are too large to be read. */
export const createPageErrorHandler =
  (brand: Brand): ErrorRequestHandler =>
  (error: unknown, req, res, next) => {
    if (!(error instanceof ParametersTooLargeError) && !isUnreadableBody(error)) {
      next(error);
      return;
    }
    const { headers, body } = renderErrorPage(brand, req.get('accept-language'), 'invalid_request', error.message);
    res.status(error.status).set({ ...headers, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
    res.type('html').send(body);
  };

/** Whether Express could not read a body: compressed, too large, or cut off. */
const isUnreadableBody = (error: unknown): error is Error & { readonly status: number } =>
  error instanceof Error && 'expose' in error && error.expose === true && 'status' in error;

/** The code and the reason stay English: they are for the developer of the application. */
function renderPage(brand: Brand, acceptLanguage: string | undefined, error: string, description: string): string {
  const language = readAcceptLanguage(acceptLanguage) ?? DEFAULT_LANGUAGE;
  const words = REJECTED_AUTHORIZATION[language];
  return getPages(brand).html(
    words.title,
    `<h1>${words.title}</h1>
<p>${words.advice}</p>
<dl>
<div><dt>${words.error}</dt><dd><code>${isolateHtml(error)}</code></dd></div>
<div><dt>${words.reason}</dt><dd lang="en" dir="ltr">${isolateHtml(description)}</dd></div>
</dl>`,
    { language, back: words.back },
  );
}
