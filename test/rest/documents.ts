import { API_FACE } from '../../src/rest/api-face.ts';
import { describeFace } from '../../src/rest/describe-face.ts';
import { OPERATOR_FACE } from '../../src/rest/operator-face.ts';
import { apiRouter, operatorRouter } from '../../src/router.ts';

// Not localhost, which the linters reject in a published description.
export const BASE_URL = 'https://roster.test';

export type Schema = {
  $ref?: string;
  description?: string;
  type?: string | string[];
  items?: Schema;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  enum?: unknown[];
  minLength?: number;
  maxLength?: number;
};
export type Media = {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value: { code: string; status: number } }>;
};
export type Response = { description?: string; headers?: Record<string, unknown>; content?: Record<string, Media> };
export type Parameter = { in: string; name: string; required?: boolean; description?: string; schema: Schema };
export type Operation = {
  operationId: string;
  tags: string[];
  description: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Response>;
  'x-codeSamples': { label: string; source: string }[];
};
export type Document = {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema & { properties?: Record<string, Schema> }>;
    securitySchemes: { bearer: { scheme: string; description: string }; oauth2: { flows: object } };
  };
};

/** The document of `/api/v1`, as clients read it. */
export const document = parsed(describeFace(API_FACE, apiRouter, BASE_URL).document);
/** The document of the operator API. */
export const operatorDocument = parsed(describeFace(OPERATOR_FACE, operatorRouter, BASE_URL).document);
export const { components } = document;

function parsed(generated: object): Document {
  return JSON.parse(JSON.stringify(generated)) as Document;
}

export const published = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);
export const operation = (id: string): Operation => {
  const found = published.find((entry) => entry.operation.operationId === id);
  if (found === undefined) throw new Error(`The document has no ${id}.`);
  return found.operation;
};
