import type { OpenApiRouter } from 'trpc-to-openapi';
import { proceduresOf } from '../procedures/definition.ts';
import { documentPathOf, type FaceSettings } from './face-settings.ts';
import { serveDocument, type OpenApiDocument } from './openapi.ts';
import { buildRoutes, type RouteTable } from './routes.ts';

/** A REST interface: operations under one prefix, with their document. */
export type Face = {
  readonly settings: FaceSettings;
  readonly documentPath: string;
  readonly routes: RouteTable;
  readonly document: OpenApiDocument;
  /** Generates the document. */
  readonly describe: () => Promise<object>;
};

/** Creates a REST interface of the procedures of a router that declare endpoints. */
export function openFace(settings: FaceSettings, router: OpenApiRouter, baseUrl: string, tokenBrand: string): Face {
  // With the first request for it: few ask, and its libraries and its making are a part of each start.
  const describe = async () => {
    const { describeFace } = await import('./describe-face.ts');
    return describeFace(settings, router, baseUrl, tokenBrand).document;
  };
  const routes = buildRoutes(proceduresOf(router));
  return { settings, documentPath: documentPathOf(settings), routes, document: serveDocument(describe), describe };
}
