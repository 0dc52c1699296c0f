import { RESOURCES, type Resource } from '../entities/index.ts';

const PATHS: Readonly<Record<Resource, string>> = { api: '/api/v1', mcp: '/mcp' };

/** The identifier of a resource (RFC 8707, RFC 9728). */
export const resourceUri = (baseUrl: string, resource: Resource): string => baseUrl + PATHS[resource];

/** @returns undefined for the identifier of anything else */
export const findResource = (baseUrl: string, uri: unknown): Resource | undefined =>
  RESOURCES.find((resource) => resourceUri(baseUrl, resource) === uri);
