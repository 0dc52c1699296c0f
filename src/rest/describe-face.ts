import type { OpenApiRouter } from 'trpc-to-openapi';
import { proceduresOf } from '../procedures/definition.ts';
import type { FaceSettings } from './face-settings.ts';
import { openApiDocument } from './openapi-document.ts';
import { buildRoutes } from './routes.ts';

/** Returns the operations of a REST interface and their OpenAPI document. */
export function describeFace(settings: FaceSettings, router: OpenApiRouter, baseUrl: string, tokenBrand = 'rst') {
  const routes = buildRoutes(proceduresOf(router));
  return { routes, document: openApiDocument(settings, router, routes, baseUrl, tokenBrand) };
}
