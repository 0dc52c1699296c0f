import type { Request, RequestHandler, Response } from 'express';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { currentCaller } from '../db/turns/request-caller.ts';
import { denied } from '../events/denials.ts';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import type { Attempts, Counter } from '../rate-limit/attempts.ts';
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
    const ofAddress = await http.attempts.oauthByAddress.consume(bucket);
    if (ofAddress.allowed) res.locals['oauthBucket'] = bucket;
    else {
      const ofClient = CLIENT_PATHS.includes(req.path) ? await countAsClient(http, req, res, bucket) : undefined;
      if (ofClient?.allowed !== true) {
        const own = session === undefined ? 'from this address' : 'of this session';
        const source = ofClient === undefined ? own : 'of this client';
        sendTooMany(http, req, res, `too many requests ${source}`, (ofClient ?? ofAddress).resetSeconds);
        return;
      }
    }
    if (session === undefined) currentCaller()?.waitAs(`oauth ${bucket}`);
    next();
  };
}

/**
 * Counts a request toward the limit of the client of the operator whose secret it has. A product sends the requests of all
 * its users from one address, at times many at once, and whatever else is sent from there. Only wrong secrets count toward
 * the limit of those that are looked up: each costs a statement. What is wrong at the same moment can exceed it once.
 * @returns undefined for other requests
 */
async function countAsClient(
  http: HttpServices,
  req: Request,
  res: Response,
  bucket: string,
): Promise<Counted | undefined> {
  const { db, tokens } = http.services;
  const { id, secret } = readClientSecret(req, await readFormOf(req, res));
  if (tokens.parseKind(secret) !== 'clientSecret') return undefined;
  const { refusedSecrets } = http.attempts;
  if (!(await refusedSecrets.peek(bucket)).allowed) return undefined;
  const client = await findClientBySecret(db, id, secret);
  if (client?.source !== 'operator') {
    await refusedSecrets.consume(bucket);
    return undefined;
  }
  // Already here, because oidc-provider refuses some requests, such as one without a form, before it compares the secret.
  res.locals['isCounted'] = true;
  return countClient(http.attempts, { id, ...client }, req.path === ROUTES.token);
}

type Counted = Awaited<ReturnType<Counter['consume']>>;
type Client = { readonly id: string; readonly hasTokenLimit: boolean };

/** Token requests of first-party clients have a limit only if the operator sets it. */
const countClient = (
  { oauthByClient }: Attempts,
  { id, hasTokenLimit }: Client,
  isTokenRequest: boolean,
): Promise<Counted> =>
  isTokenRequest && !hasTokenLimit ? Promise.resolve({ allowed: true, resetSeconds: 0 }) : oauthByClient.consume(id);

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

/** Creates the function that counts the request of a client toward its own limit, and refunds it to that of the IP address. */
export const createClientLimit =
  (attempts: Attempts) =>
  async (ctx: KoaContextWithOIDC, client: Client): Promise<void> => {
    const { locals } = ctx.res as unknown as Response; // Express's
    const { oauthBucket, isCounted } = locals as { oauthBucket?: string; isCounted?: true }; // set by `limitByAddress`
    if (oauthBucket !== undefined) await attempts.oauthByAddress.refund(oauthBucket);
    currentCaller()?.waitAs(client.id);
    if (isCounted) return;
    const { allowed, resetSeconds } = await countClient(attempts, client, ctx.oidc.route === 'token');
    if (allowed) return;
    ctx.set('Retry-After', String(resetSeconds));
    throw Object.assign(
      new errors.CustomOIDCProviderError('temporarily_unavailable', 'too many requests of this client'),
      { status: 429, statusCode: 429 },
    );
  };
