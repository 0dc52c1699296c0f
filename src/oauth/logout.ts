import express, { type RequestHandler, type Response } from 'express';
import { createCookies } from '../http/cookies.ts';
import type { HttpServices } from '../http/http-services.ts';
import { currentActor, runAs } from '../events/actor.ts';
import {
  endByApplication,
  endHinted,
  isOfSession,
  LOGOUT_PARAMETERS,
  LogoutRejectedError,
  readLogoutRequest,
  type LogoutParameters,
} from '../resources/openid/logout.service.ts';
import { sessionOf } from './browser-session.ts';
import { renderErrorPage } from './error-page.ts';

export const LOGOUT = '/oauth/logout';

/** The page of the console that asks, and that says that the user is signed out. */
const PAGE = '/sign-out';

const BODY_BYTES_MAX = 16 * 1024;

/** Creates the handler of logout requests by applications (OpenID Connect RP-Initiated Logout 1.0). */
export function createLogoutHandler(http: HttpServices): RequestHandler {
  const { services } = http;
  const { config } = services;
  const cookies = createCookies(config.baseUrl);

  return async (req, res) => {
    res.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', 'X-Frame-Options': 'DENY' });
    try {
      const asked = parse(new URL(req.url, config.baseUrl).searchParams);
      const { redirectTo, hint } = await readLogoutRequest(services, asked);
      const principal = sessionOf(res)?.principal ?? null;
      if (principal !== null && !isOfSession(hint, principal)) {
        // The page repeats the request once the user has signed out there, without the hint, which named somebody else.
        const { id_token_hint: _, ...others } = asked;
        redirect(res, withQuery(PAGE, { ...others, ...(hint !== null && { client_id: hint.aud }) }));
        return;
      }
      if (principal !== null) {
        const { accountId: actorId, credentialId } = principal;
        const actor = { ...currentActor(), actorKind: 'session', actorId, credentialId } as const;
        await runAs(actor, () => endByApplication(services.db, principal));
        cookies.clearSession(res);
      } else if (hint !== null) await endHinted(services.db, hint);
      redirect(res, redirectTo ?? withQuery(PAGE, { ui_locales: asked.ui_locales }));
    } catch (error) {
      if (!(error instanceof LogoutRejectedError)) throw error;
      const page = renderErrorPage(config.brand, req.get('accept-language'), 'invalid_request', error.message);
      res.status(400).set(page.headers).type('html').send(page.body);
    }
  };
}

/**
 * Turns a POST into a GET, because a browser sends no cookie with a POST of another site, and only then Roster knows who is
 * signed in.
 */
export const redirectForm = (path: string): RequestHandler[] => [
  express.raw({ type: 'application/x-www-form-urlencoded', limit: BODY_BYTES_MAX, inflate: false }),
  (req, res) => {
    const form = Buffer.isBuffer(req.body) ? req.body.toString() : '';
    res.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
    redirect(res, `${path}?${new URLSearchParams(form).toString()}`);
  },
];

/** @throws LogoutRejectedError if a parameter is repeated (RFC 6749, section 3.1) or cannot be stored */
function parse(query: URLSearchParams): LogoutParameters {
  const asked: Partial<Record<(typeof LOGOUT_PARAMETERS)[number], string>> = {};
  for (const name of LOGOUT_PARAMETERS) {
    const [value, ...others] = query.getAll(name);
    if (others.length > 0) throw new LogoutRejectedError(`${name} must not be repeated`);
    if (value?.includes('\0')) throw new LogoutRejectedError('parameters must not contain NUL');
    if (value) asked[name] = value;
  }
  return asked;
}

const withQuery = (path: string, values: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
};

/** Express would encode the URI again, which has to stay as it was registered. */
function redirect(res: Response, location: string): void {
  res.status(303).set('Location', location).end();
}
