import type { RequestHandler, Response } from 'express';
import { authenticateSession, type Authentication } from '../auth/authenticate.ts';
import type { Principal } from '../auth/principal.ts';
import { currentCaller } from '../db/turns/request-caller.ts';
import { createCookies } from '../http/cookies.ts';
import type { HttpServices } from '../http/http-services.ts';

type BrowserSession = Extract<Authentication, { readonly principal: Principal }>;

/** Finds the session of a browser, whose requests wait in the turn of its account, whatever else its address sends. */
export function identifyBrowser({ services: { config, db, tokens } }: HttpServices): RequestHandler {
  const cookies = createCookies(config.baseUrl);
  return async (req, res, next) => {
    const { session } = cookies.read(req.headers.cookie);
    const found = session === undefined ? undefined : await authenticateSession(db, tokens, session, null);
    if (found?.principal) {
      currentCaller()?.identify(found.principal);
      res.locals['session'] = found;
    }
    next();
  };
}

/** Returns the session that {@link identifyBrowser} found. */
export const sessionOf = (res: Response): BrowserSession | undefined =>
  res.locals['session'] as BrowserSession | undefined;
