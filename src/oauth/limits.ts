import type { Request, RequestHandler, Response } from 'express';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { currentCaller } from '../db/turns/request-caller.ts';
import { denied } from '../events/denials.ts';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import type { Attempts } from '../rate-limit/attempts.ts';
import type { HttpServices } from '../http/http-services.ts';
import { requestIdsOf } from '../http/request-id.ts';
import { findClientBySecret } from '../resources/oauth-clients/registered-client.ts';
import { renderErrorPage } from './error-page.ts';
import { LOGOUT } from './logout.ts';
import { ROUTES } from './provider.ts';
import { readClientSecret, readFormOf } from './request-parameters.ts';

/** Where pages send a browser by a form. */
const FORMS: readonly string[] = [ROUTES.authorization, LOGOUT];

/** Limits requests per IP address. Those that a client of the operator authenticates count toward its own limit instead. */
export function limitByAddress(http: HttpServices): RequestHandler {
  return async (req, res, next) => {
    const bucket = addressBucket(http.clientAddress(req));
    const { allowed, resetSeconds } = await http.attempts.oauthByAddress.consume(bucket);
    if (allowed) res.locals['oauthBucket'] = bucket;
    else if (req.path !== ROUTES.token || !(await isFromProduct(http, req, res, bucket))) {
      sendTooMany(http, req, res, 'too many requests from this address', resetSeconds);
      return;
    }
    next();
  };
}

/**
 * Whether a token request has the secret of a first-party client without a limit. A product refreshes the tokens of all its
 * users from one address, at times many at once, and whatever else is sent from there. Wrong secrets have a limit of their
 * own, which also counts until the answer is known: each costs a statement.
 */
async function isFromProduct(http: HttpServices, req: Request, res: Response, bucket: string): Promise<boolean> {
  const { db, tokens } = http.services;
  const { id, secret } = readClientSecret(req, await readFormOf(req, res));
  if (tokens.parseKind(secret) !== 'clientSecret') return false;
  const { refusedSecrets } = http.attempts;
  if (!(await refusedSecrets.consume(bucket)).allowed) return false;
  const client = await findClientBySecret(db, id, secret);
  if (client === undefined) return false;
  await refusedSecrets.refund(bucket);
  return !client.hasTokenLimit;
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
    if (!client.hasTokenLimit && ctx.oidc.route === 'token') {
      currentCaller()?.identifyProduct(client.id);
      return;
    }
    const { allowed, resetSeconds } = await oauthByClient.consume(client.id);
    if (allowed) return;
    ctx.set('Retry-After', String(resetSeconds));
    throw Object.assign(
      new errors.CustomOIDCProviderError('temporarily_unavailable', 'too many requests of this client'),
      { status: 429, statusCode: 429 },
    );
  };
