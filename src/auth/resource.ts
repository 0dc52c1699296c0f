import { RESOURCES, type Resource } from '../entities/index.ts';

const PATHS: Readonly<Record<Resource, string>> = { api: '/api/v1', mcp: '/mcp' };

/** Returns the identifier of a resource (RFC 8707, RFC 9728). */
export const resourceUri = (baseUrl: string, resource: Resource): string => baseUrl + PATHS[resource];

/** Returns the path of a resource's metadata document (RFC 9728, section 3.1). */
export const resourceMetadataPath = (resource: Resource): string =>
  `/.well-known/oauth-protected-resource${PATHS[resource]}`;

/**
 * Finds the resource with an identifier. Scheme and host have no case, and one slash at the end is tolerated, because URL
 * libraries add it.
 * @returns undefined if it is unknown
 */
export function findResource(baseUrl: string, uri: unknown): Resource | undefined {
  if (typeof uri !== 'string') return undefined;
  const [, origin = '', path = ''] = /^([a-z]+:\/\/[^/?#]*)(.*)$/is.exec(uri) ?? [];
  const asked = origin.toLowerCase() + path.replace(/\/$/, '');
  return RESOURCES.find((resource) => resourceUri(baseUrl, resource) === asked);
}

/** Returns the identifier of the resource that is meant, in the spelling that is stored; an unknown one as it is. */
export function toCanonicalResource(baseUrl: string, uri: string): string {
  const resource = findResource(baseUrl, uri);
  return resource === undefined ? uri : resourceUri(baseUrl, resource);
}
