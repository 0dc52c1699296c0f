import { Router } from 'express';
import { PROOF_ALGORITHMS } from '../auth/dpop.ts';
import { isReadScope } from '../auth/scopes.ts';
import { SCOPES, type Resource, type Scope } from '../entities/index.ts';
import type { Config } from '../config/config.ts';
import { ProblemError } from '../problems/error.ts';
import { resourceMetadataPath, resourceUri } from '../auth/resource.ts';
import { allowAnyOrigin, createPreflightHandler } from './cors.ts';

/** Members of OpenID Connect, which are in its own discovery document (`openid.ts`) and not in that of OAuth. */
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

/** Creates the metadata documents of the resources, where clients find the authorization server (RFC 9728). */
export function createResourceMetadataRouter(config: Config): Router {
  const pages = Router({ caseSensitive: true, strict: true });
  addDocument(pages, config, 'api', 'Roster API', SCOPES);
  // Clients ask for all scopes that the document lists, so it has only those to begin with.
  if (config.mcp) addDocument(pages, config, 'mcp', 'Roster MCP server', SCOPES.filter(isReadScope));
  return pages;
}

function addDocument(
  pages: Router,
  { baseUrl, oauth }: Config,
  resource: Resource,
  name: string,
  scopes: readonly Scope[],
): void {
  const path = resourceMetadataPath(resource);
  const document = {
    resource: resourceUri(baseUrl, resource),
    resource_name: name,
    authorization_servers: [baseUrl],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    resource_documentation: `${baseUrl}/docs`,
    ...(oauth.dpop && {
      dpop_bound_access_tokens_required: false,
      dpop_signing_alg_values_supported: PROOF_ALGORITHMS,
    }),
  };
  pages.get(path, allowAnyOrigin, (_req, res) => {
    res.set('Cache-Control', 'public, max-age=300').json(document);
  });
  pages.options(path, createPreflightHandler('GET'));
  pages.all(path, () => {
    throw new ProblemError('method_not_allowed', undefined, { allow: 'GET, HEAD, OPTIONS' });
  });
}
