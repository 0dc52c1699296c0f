import type { OpenApiRouter } from 'trpc-to-openapi';
import { documentPathOf, type FaceSettings } from './face-settings.ts';
import { serveDocument, type OpenApiDocument } from './openapi.ts';
import { openApiDocument } from './openapi-document.ts';
import { buildRoutes, type RouteTable } from './routes.ts';

/** A REST interface: operations under one prefix, with their document. */
export type Face = {
  readonly settings: FaceSettings;
  readonly documentPath: string;
  readonly routes: RouteTable;
  readonly document: OpenApiDocument;
};

/** Creates a REST interface of the procedures of a router that declare endpoints. */
export function openFace(settings: FaceSettings, router: OpenApiRouter, baseUrl: string, tokenBrand: string): Face {
  const { routes, document } = describeFace(settings, router, baseUrl, tokenBrand);
  return { settings, documentPath: documentPathOf(settings), routes, document: serveDocument(document) };
}

/** Returns the operations of a REST interface and their OpenAPI document. */
export function describeFace(settings: FaceSettings, router: OpenApiRouter, baseUrl: string, tokenBrand = 'rst') {
  const routes = buildRoutes(router._def.procedures);
  return { routes, document: openApiDocument(settings, router, routes, baseUrl, tokenBrand) };
}
