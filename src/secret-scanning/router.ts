import { Router, type RequestHandler } from 'express';
import { z } from 'zod';
import { withMinimumDuration } from '../crypto/minimum-duration.ts';
import { ProblemError } from '../problems/error.ts';
import { runAs } from '../events/actor.ts';
import { requestIdsOf } from '../http/request-id.ts';
import type { HttpServices } from '../http/http-services.ts';
import { text } from '../procedures/fields.ts';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import { consumeAttempt } from '../rate-limit/attempts.ts';
import { revokeLeaked } from '../resources/leaked-secrets/leaked-secrets.service.ts';
import { readJson } from '../rest/body.ts';
import { createGitHubHandler } from './github.ts';

/** Longer than a revocation takes, with its email jobs. */
const REVOCATION_MS = 250;

const revocation = z.object({ secret: text(1, 4096) });

/** Creates the routes for reports of leaked secrets. They need no credential. */
export function createSecurityRouter(http: HttpServices): Router {
  const { config } = http.services;
  const paths: Readonly<Record<string, RequestHandler>> = {
    '/security/revoke': revokeByHolder(http),
    ...(config.githubSecretScanningKeys && {
      '/security/github': createGitHubHandler(http.services, config.githubSecretScanningKeys),
    }),
  };
  const pages = Router({ caseSensitive: true, strict: true });
  for (const [path, handler] of Object.entries(paths)) {
    pages.post(path, asAnonymous(http, path), limitByAddress(http), handler);
    pages.all(path, () => {
      throw new ProblemError('method_not_allowed', undefined, { allow: 'POST' });
    });
  }
  return pages;
}

/** Answers 202 whatever the secret is, in the same time, so that the answer does not tell whether it was valid. */
const revokeByHolder =
  ({ services }: HttpServices): RequestHandler =>
  async (req, res) => {
    const body = revocation.safeParse(await readJson(req));
    // Without the issues, whose input is the secret.
    if (!body.success) throw new ProblemError('validation_failed', 'The body must be `{ "secret": "…" }`.');
    const reports = [{ secret: body.data.secret, leak: 'holder', foundAt: null }] as const;
    await withMinimumDuration(revokeLeaked(services, reports), REVOCATION_MS);
    res.status(202).end();
  };

/** Names the request in the log and sets the actor of its events. */
const asAnonymous =
  ({ services: { audit }, clientAddress }: HttpServices, path: string): RequestHandler =>
  (req, res, next) => {
    res.locals['operation'] = path.slice(1).replace('/', '.');
    runAs(
      {
        actorKind: 'anonymous',
        actorId: null,
        credentialId: null,
        address: clientAddress(req),
        ...requestIdsOf(req),
        audit,
      },
      next,
    );
  };

const limitByAddress =
  ({ attempts, clientAddress }: HttpServices): RequestHandler =>
  async (req, res, next) => {
    const limit = { counter: attempts.leaks, name: addressBucket(clientAddress(req)) };
    await consumeAttempt(limit);
    res.locals['leakLimit'] = limit;
    next();
  };
