import type { Request, RequestHandler, Response } from 'express';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { currentCaller } from '../db/turns/request-caller.ts';
import { denied } from '../events/denials.ts';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import type { Attempts } from '../rate-limit/attempts.ts';
import type { HttpServices } from '../http/http-services.ts';
import { requestIdsOf } from '../http/request-id.ts';
import { findClientBySecret } from '../resources/oauth-clients/registered-client.ts';
import { sessionOf } from './browser-session.ts';
import { renderErrorPage } from './error-page.ts';
import { LOGOUT } from './logout.ts';
import { ROUTES } from './provider.ts';
import { readClientSecret, readFormOf } from './request-parameters.ts';

/** Where pages send a browser by a form. */
const FORMS: readonly string[] = [ROUTES.authorization, LOGOUT];

/** Where clients prove themselves, by a form. */
const CLIENT_PATHS: readonly string[] = [
  ROUTES.token,
  ROUTES.revocation,
  ROUTES.introspection,
  ROUTES.pushed_authorization_request,
];

/**
 * Limits requests per IP address. Those of a browser that is signed in count for its session instead, and those that a client
 * of the operator authenticates toward its own limit. The others wait in a turn of their own: nobody refuses what the limit
 * has admitted, and who signs in at that address does not wait for them.
 */
export function limitByAddress(http: HttpServices): RequestHandler {
  return async (req, res, next) => {
    const session = sessionOf(res)?.principal.credentialId;
    const bucket = session ?? addressBucket(http.clientAddress(req));
    const { allowed, resetSeconds } = await http.attempts.oauthByAddress.consume(bucket);
    if (allowed) res.locals['oauthBucket'] = bucket;
    else if (!CLIENT_PATHS.includes(req.path) || !(await isOfOperator(http, req, res, bucket))) {
      const source = session === undefined ? 'from this address' : 'of this session';
      sendTooMany(http, req, res, `too many requests ${source}`, resetSeconds);
      return;
    }
    if (session === undefined) currentCaller()?.waitAs(`oauth ${bucket}`);
    next();
  };
}

/**
 * Whether a request has the secret of a client of the operator. A product sends the requests of all its users from one
 * address, at times many at once, and whatever else is sent from there. Only wrong secrets count toward the limit of those that
 * are looked up: each costs a statement. What is wrong at the same moment can exceed it once.
 */
async function isOfOperator(http: HttpServices, req: Request, res: Response, bucket: string): Promise<boolean> {
  const { db, tokens } = http.services;
  const { id, secret } = readClientSecret(req, await readFormOf(req, res));
  if (tokens.parseKind(secret) !== 'clientSecret') return false;
  const { refusedSecrets } = http.attempts;
  if (!(await refusedSecrets.peek(bucket)).allowed) return false;
  const client = await findClientBySecret(db, id, secret);
  if (client?.source === 'operator') return true;
  await refusedSecrets.consume(bucket);
  return false;
}

/**
 * Limits client registrations per IP address. Refused ones have a limit of their own, so that an application whose
 * metadata is corrected by trying does not use up the clients of its network.
 */
export function limitRegistrations(http: HttpServices): RequestHandler {
  const { registrations, refusedRegistrations } = http.attempts;
  return async (req, res, next) => {
    const bucket = addressBucket(http.clientAddress(req));
    // Both count until the answer is known, so that concurrent requests count too.
    for (const counter of [refusedRegistrations, registrations]) {
      const { allowed, resetSeconds } = await counter.consume(bucket);
      if (allowed) continue;
      if (counter === registrations) await refusedRegistrations.refund(bucket);
      sendTooMany(http, req, res, 'too many registrations from this address', resetSeconds);
      return;
    }
    res.once('close', () => {
      const other = res.statusCode === 201 ? refusedRegistrations : registrations;
      void other.refund(bucket);
    });
    next();
  };
}

function sendTooMany(
  { denials, services: { config } }: HttpServices,
  req: Request,
  res: Response,
  description: string,
  resetSeconds: number,
): void {
  const error = 'temporarily_unavailable';
  denials.note(denied('attempts.throttled', 'rate_limited'), requestIdsOf(req));
  res.status(429).set({ 'Retry-After': String(resetSeconds), 'Cache-Control': 'no-store' });
  // Clients post, but for the forms with which a browser is sent.
  if (req.method === 'POST' && !FORMS.includes(req.path)) {
    res.json({ error, error_description: description });
    return;
  }
  const { headers, body } = renderErrorPage(config.brand, req.get('accept-language'), error, description);
  res.set(headers).type('html').send(body);
}

/**
 * Creates the function that counts the request of a client toward its own limit, and refunds it to the limit of the IP
 * address. Token requests of first-party clients have a limit only if the operator sets it.
 */
export const createClientLimit =
  ({ oauthByAddress, oauthByClient }: Attempts) =>
  async (ctx: KoaContextWithOIDC, client: { readonly id: string; readonly hasTokenLimit: boolean }): Promise<void> => {
    const { oauthBucket } = (ctx.res as unknown as Response).locals as { oauthBucket?: string }; // Express's, set by `limitByAddress`
    if (oauthBucket !== undefined) await oauthByAddress.refund(oauthBucket);
    currentCaller()?.waitAs(client.id);
    if (!client.hasTokenLimit && ctx.oidc.route === 'token') return;
    const { allowed, resetSeconds } = await oauthByClient.consume(client.id);
    if (allowed) return;
    ctx.set('Retry-After', String(resetSeconds));
    throw Object.assign(
      new errors.CustomOIDCProviderError('temporarily_unavailable', 'too many requests of this client'),
      { status: 429, statusCode: 429 },
    );
  };
