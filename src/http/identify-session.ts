import type { Request, Response } from 'express';
import type { Authentication } from '../auth/authenticate.ts';
import type { Principal } from '../auth/principal.ts';
import { ProblemError } from '../problems/error.ts';
import { authorize } from '../procedures/authorize.ts';
import { createCookies } from './cookies.ts';
import type { HttpServices } from './http-services.ts';
import { createRateLimitError, identify } from './identify.ts';
import { checkAccount } from './page-account.ts';
import { createRateHeaders, setHeaders } from './reply.ts';
import { isSameOrigin } from './same-origin.ts';

const SESSION_ONLY = { scope: null, accountLevel: true, permission: null, sessionOnly: true } as const;

type Facts = { readonly address: string; readonly path: string; readonly teamId: string | null };

/**
 * Identifies the session of a request that is no call of a procedure, with the same checks in the same order: rate
 * limit, origin, session, and that the page still acts for the account of the session.
 */
export async function identifySession(
  http: HttpServices,
  req: Request,
  res: Response,
  facts: Facts,
): Promise<{ readonly principal: Principal; readonly authentication: Authentication }> {
  const { config } = http.services;
  const isOwnPage = req.headers.authorization !== undefined || isSameOrigin(req, config.baseUrl);
  const cookies = createCookies(config.baseUrl);
  const sessionToken = isOwnPage ? cookies.read(req.headers.cookie).session : undefined;
  const { authentication, rate } = await identify(http, req, { ...facts, cost: 1, sessionToken });
  cookies.renameSession(res, req.headers.cookie, authentication);
  const { principal } = authentication;
  // For the log of denials.
  Object.assign(res.locals, { principal, teamId: facts.teamId, credentialId: principal?.credentialId ?? null });
  setHeaders(res, createRateHeaders(rate, config));
  if (!rate.allowed) throw createRateLimitError(rate);
  if (!isOwnPage) throw new ProblemError('cross_site_request');
  authorize(authentication, SESSION_ONLY);
  const changed = checkAccount(req, authentication);
  if (changed !== null) throw changed;
  if (principal === null) throw new ProblemError('session_required'); // only for the compiler
  return { principal, authentication };
}
