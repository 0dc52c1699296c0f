import { Router } from 'express';
import { PROOF_ALGORITHMS } from '../auth/dpop.ts';
import { SCOPES } from '../entities/index.ts';
import type { Config } from '../config.ts';
import { ProblemError } from '../errors.ts';
import { resourceUri } from '../auth/resource.ts';
import { allowAnyOrigin, createPreflightHandler } from './cors.ts';

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource/api/v1';

/** Members of OpenID Connect, which is not supported. */
const OPENID_MEMBERS = [
  'acr_values_supported',
  'claims_parameter_supported',
  'claims_supported',
  'claim_types_supported',
  'id_token_signing_alg_values_supported',
  'jwks_uri',
  'request_parameter_supported',
  'request_uri_parameter_supported',
  'subject_types_supported',
] as const;

/** Returns the metadata of the authorization server (RFC 8414) without the members of OpenID Connect. */
export function removeOpenIdMembers(metadata: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(metadata).filter(([member]) => !OPENID_MEMBERS.some((name) => name === member));
  return { ...Object.fromEntries(kept), scopes_supported: SCOPES, response_modes_supported: ['query'] };
}

/** Creates `GET /.well-known/oauth-protected-resource/api/v1`, where clients find the authorization server (RFC 9728). */
export function createResourceMetadataRouter({ baseUrl, oauth }: Config): Router {
  const document = {
    resource: resourceUri(baseUrl, 'api'),
    resource_name: 'Roster API',
    authorization_servers: [baseUrl],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
    resource_documentation: `${baseUrl}/docs`,
    ...(oauth.dpop && {
      dpop_bound_access_tokens_required: false,
      dpop_signing_alg_values_supported: PROOF_ALGORITHMS,
    }),
  };
  const pages = Router({ caseSensitive: true, strict: true });
  pages.get(RESOURCE_METADATA, allowAnyOrigin, (_req, res) => {
    res.set('Cache-Control', 'public, max-age=300').json(document);
  });
  pages.options(RESOURCE_METADATA, createPreflightHandler('GET'));
  pages.all(RESOURCE_METADATA, () => {
    throw new ProblemError('method_not_allowed', undefined, { allow: 'GET, HEAD, OPTIONS' });
  });
  return pages;
}
