import type { RequestHandler, Response } from 'express';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Denial } from '../events/denials.ts';
import { addressAttemptLimit, consumeAttempt, type Attempts } from '../rate-limit/attempts.ts';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import type { HttpServices } from '../http/http-services.ts';
import { errorPage } from './error-page.ts';

/** Counts a request at the client's address; a client that proves a secret is counted by itself instead. */
export function limited({ attempts, clientAddress, denials }: HttpServices): RequestHandler {
  return async (req, res, next) => {
    const bucket = addressBucket(clientAddress(req));
    const { allowed, resetSeconds } = await attempts.oauthByAddress.charge(bucket);
    if (allowed) {
      res.locals['oauthBucket'] = bucket;
      next();
      return;
    }
    const { requestId } = res.locals as { requestId: string }; // set for every answer, in app.ts
    denials.note(throttledAt(clientAddress(req)), requestId);
    const [error, description] = ['temporarily_unavailable', 'too many requests from this address'] as const;
    res.status(429).set({ 'Retry-After': String(resetSeconds), 'Cache-Control': 'no-store' });
    if (req.method === 'POST') {
      res.json({ error, error_description: description });
      return;
    }
    const { headers, body } = errorPage(error, description);
    res.set(headers).type('html').send(body);
  };
}

const throttledAt = (address: string): Denial => ({
  event: 'attempts.throttled',
  reason: 'rate_limited',
  actorKind: 'oauth_client',
  actorId: null,
  credentialId: null,
  clientId: null,
  teamId: null,
  accountId: null,
  address,
});

/** Bounds how many clients an address registers. */
export function oneMoreClient({ attempts, clientAddress }: HttpServices): RequestHandler {
  return async (req, _res, next) => {
    await consumeAttempt(addressAttemptLimit(attempts, 'registration', addressBucket(clientAddress(req))));
    next();
  };
}

/** A client that has proven its secret: its address is not charged, its own window is. */
export const clientWindow =
  ({ oauthByAddress, oauthByClient }: Attempts) =>
  async (ctx: KoaContextWithOIDC, clientId: string): Promise<void> => {
    const { oauthBucket } = (ctx.res as unknown as Response).locals as { oauthBucket?: string }; // Express's, set by `limited`
    if (oauthBucket !== undefined) await oauthByAddress.refund(oauthBucket);
    const { allowed, resetSeconds } = await oauthByClient.charge(clientId);
    if (allowed) return;
    ctx.set('Retry-After', String(resetSeconds));
    throw Object.assign(
      new errors.CustomOIDCProviderError('temporarily_unavailable', 'too many requests of this client'),
      {
        status: 429,
        statusCode: 429,
      },
    );
  };
