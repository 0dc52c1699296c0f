import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { hashSecret } from '../crypto/tokens.ts';
import { isUnavailable } from '../db/database.ts';
import { query, type QueryRunner } from '../db/query.ts';
import type { HttpServices } from '../http/http-services.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import { UNAVAILABLE } from './events.ts';

/** As much as the engine reads itself. */
const BODY_BYTES = 56 * 1024;

const redirectUriOf = query<{ uri: string }>(
  'redirect_uri_of_code',
  `select payload->>'redirectUri' as uri from oauth_token where token_hash = $1 and kind = 'code'`,
);

/**
 * A token request of OAuth 2.1 carries no `redirect_uri`, which the engine still demands: it gets the
 * one that the code is bound to, and the proof key (PKCE) protects. The engine reads the body itself, so it
 * gets a request that can be read again.
 */
export function withRedirectUri(db: QueryRunner): RequestHandler[] {
  return [
    express.raw({ type: 'application/x-www-form-urlencoded', limit: BODY_BYTES, inflate: false }),
    async (req, _res, next) => {
      if (Buffer.isBuffer(req.body)) {
        const form = new URLSearchParams(req.body.toString());
        const isOmitted = form.getAll('redirect_uri').every((uri) => uri === '');
        const code = form.get('grant_type') === 'authorization_code' && isOmitted ? form.get('code') : null;
        if (code !== null) {
          const [bound] = await db.query(redirectUriOf, [hashSecret(code)]);
          // Where there is no such code, any will do to hear so.
          form.set('redirect_uri', bound?.uri ?? 'urn:unknown');
        }
        Object.assign(req, { replayed: replay(req, code === null ? req.body : Buffer.from(form.toString())) });
      }
      next();
    },
  ];
}

/** Answers what goes wrong before the engine has the request as the engine would (RFC 6749, section 5.2). */
export const inItsWords =
  ({ log }: HttpServices): ErrorRequestHandler =>
  (error: { status?: number; message: string }, _req, res, next) => {
    res.set('Cache-Control', 'no-store');
    if (isUnavailable(error)) {
      log.failure(toProblemError(error), String(res.locals['requestId']));
      res.status(503).set('Retry-After', '1').json(UNAVAILABLE);
    } else if (error.status !== undefined && error.status < 500) {
      res.status(error.status).json({ error: 'invalid_request', error_description: error.message });
    } else {
      next(error);
    }
  };

function replay(req: IncomingMessage, body: Buffer): IncomingMessage {
  const { method, url, headers, rawHeaders, socket, httpVersion, httpVersionMajor, httpVersionMinor } = req;
  headers['content-length'] = String(body.length);
  const copy = { method, url, headers, rawHeaders, socket, httpVersion, httpVersionMajor, httpVersionMinor };
  return Object.assign(Readable.from([body]), copy) as unknown as IncomingMessage; // what the engine reads of one
}
