import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { createCookieSuffix } from '../http/cookies.ts';
import type { Services } from '../service/services.ts';
import { toClientInformation } from './client-metadata.ts';
import { addPermissions } from './introspect.ts';
import { removeOpenIdMembers } from './metadata.ts';
import { OPENID_METADATA, openIdMembers } from './openid.ts';
import { redirectAsRegistered } from './redirect.ts';
import { getReadable } from './request-parameters.ts';
import { RESUME_COOKIE } from './resume-cookie.ts';

const CLIENT_ROUTES: ReadonlySet<string> = new Set(['token', 'revocation', 'pushed_authorization_request']);

/** Creates the request handler of oidc-provider, whose URLs all begin with BASE_URL. */
export function createProviderHandler(provider: Provider, services: Services): RequestHandler {
  const { baseUrl } = services.config;
  const { host, protocol } = new URL(baseUrl);
  provider.use(async (ctx, next) => {
    await next();
    const body = ctx.body as Record<string, unknown>; // JSON for these routes
    if (ctx.oidc?.route === 'discovery') {
      const members = ctx.path === OPENID_METADATA ? openIdMembers(baseUrl) : {};
      ctx.body = { ...removeOpenIdMembers(body), ...members };
    }
    if (ctx.oidc?.route === 'registration' && ctx.status === 201) ctx.body = toClientInformation(body);
    redirectAsRegistered(ctx as KoaContextWithOIDC);
    // Introspection requires a client secret, which must not be in a page.
    if (ctx.oidc?.route === 'introspection') {
      dropCors(ctx.res);
      await addPermissions(services, ctx as KoaContextWithOIDC);
    }
    // What an unknown client is told is for no page. Of a known one the redirect URIs decide.
    if (CLIENT_ROUTES.has(ctx.oidc?.route ?? '') && ctx.oidc?.client === undefined) dropCors(ctx.res);
    dropUnusedCookies(ctx.res, baseUrl);
  });
  const handle = provider.callback();

  return async (req: Request, res: Response) => {
    const message = getReadable(req);
    // oidc-provider builds its URLs from these, so they must not come from the request. A target can name a host too.
    message.headers.host = host;
    message.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    delete message.headers['x-forwarded-host'];
    const url = message.url?.replace(/^https?:\/\/[^/?#]*/i, '');
    Object.assign(message, { url, originalUrl: url });
    res.set({ 'Referrer-Policy': 'no-referrer', 'X-Frame-Options': 'DENY' });
    await handle(message, res);
  };
}

function dropCors(res: ServerResponse): void {
  for (const name of res.getHeaderNames()) if (name.startsWith('access-control-')) res.removeHeader(name);
}

/**
 * Removes the cookies of oidc-provider's session and of its interaction pages, which are not used, and that which continues
 * a request under its former name: it can be of another instance.
 */
function dropUnusedCookies(res: ServerResponse, baseUrl: string): void {
  const former = createCookieSuffix(baseUrl) === '' ? [] : [RESUME_COOKIE];
  const unused = new Set(['_unused', '_unused_page', ...former].flatMap((name) => [name, `${name}.sig`]));
  const cookies = [res.getHeader('Set-Cookie') ?? []].flat().map(String);
  const own = cookies.filter((cookie) => !unused.has(cookie.split('=', 1)[0] ?? ''));
  if (own.length > 0) res.setHeader('Set-Cookie', own);
  else res.removeHeader('Set-Cookie');
}
