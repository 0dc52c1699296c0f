import { RESOURCES, type Resource } from '../entities/index.ts';

const PATHS: Readonly<Record<Resource, string>> = { api: '/api/v1', mcp: '/mcp' };

/** Returns the identifier of a resource (RFC 8707, RFC 9728). */
export const resourceUri = (baseUrl: string, resource: Resource): string => baseUrl + PATHS[resource];

/** Returns the path of a resource's metadata document (RFC 9728, section 3.1). */
export const resourceMetadataPath = (resource: Resource): string =>
  `/.well-known/oauth-protected-resource${PATHS[resource]}`;

/** Finds the resource with an identifier. @returns undefined if it is unknown */
export const findResource = (baseUrl: string, uri: unknown): Resource | undefined =>
  RESOURCES.find((resource) => resourceUri(baseUrl, resource) === uri);
