import type { EventEmitter } from 'node:events';
import type Provider from 'oidc-provider';
import type { errors, KoaContextWithOIDC } from 'oidc-provider';
import { denied } from '../events/denials.ts';
import { isUnavailable } from '../db/errors.ts';
import type { HttpServices } from '../http/http-services.ts';
import { requestIdsOf } from '../http/request-id.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import { RepeatedRefresh } from './refresh-answers.ts';

const ERROR_EVENTS = [
  'authorization.error',
  'grant.error',
  'introspection.error',
  'pushed_authorization_request.error',
  'registration_create.error',
  'revocation.error',
] as const;

/** Records requests that oidc-provider denies, and logs its internal errors. */
export function logProviderEvents(provider: Provider, { services, log, denials }: HttpServices): void {
  const { audit } = services;

  const events: EventEmitter = provider; // its types list fewer events than it has
  for (const name of ERROR_EVENTS) {
    events.on(name, (ctx: KoaContextWithOIDC, error: errors.OIDCProviderError) => {
      if (error instanceof RepeatedRefresh) sendRepeatedAnswer(ctx, error);
      // The consent page records denials by the user.
      else if (error.error !== 'access_denied') {
        // Without the description, which can contain values of the request.
        const clientId = ctx.oidc.client?.clientId;
        const denial = denied('oauth_request.denied', error.error, { clientId: clientId ?? null });
        denials.note(denial, requestIdsOf(ctx.req));
        audit('oauth_request.denied', {
          clientId,
          reason: `${error.error}: ${error.error_detail ?? error.error_description ?? ''}`,
        });
      }
    });
  }
  provider.on('server_error', (ctx, error) => {
    log.failure(toProblemError(error), requestIdsOf(ctx.req));
    if (isUnavailable(error)) sendUnavailable(ctx);
  });
  // Errors outside of oidc-provider's handlers, such as a closed connection.
  events.on('error', (error: unknown) => log.failure(toProblemError(error), null));
}

function sendRepeatedAnswer(ctx: KoaContextWithOIDC, { body }: RepeatedRefresh): void {
  ctx.status = 200;
  ctx.body = body;
}

export const UNAVAILABLE = { error: 'temporarily_unavailable', error_description: 'the service is not available' };

function sendUnavailable(ctx: KoaContextWithOIDC): void {
  ctx.status = 503;
  ctx.set({ 'Retry-After': '1', 'Cache-Control': 'no-store' });
  ctx.body = UNAVAILABLE;
}
