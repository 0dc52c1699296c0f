import type { EventEmitter } from 'node:events';
import type Provider from 'oidc-provider';
import type { errors, KoaContextWithOIDC } from 'oidc-provider';
import { CLOCK_DETAIL } from '../auth/dpop.ts';

/** What oidc-provider also says of proofs whose time is ahead. */
const NOT_RECENT = 'DPoP proof iat is not recent enough';

/** Names the clock in the error of a DPoP proof whose time differs too much, as the API does. */
export function nameProofClock(provider: Provider): void {
  const events: EventEmitter = provider; // its types list fewer events than it has
  for (const name of ['grant.error', 'pushed_authorization_request.error']) {
    events.on(name, (ctx: KoaContextWithOIDC, error: errors.OIDCProviderError) => {
      if (error.error_description !== NOT_RECENT) return;
      ctx.body = { error: error.error, error_description: CLOCK_DETAIL };
    });
  }
}
