import { generateOpenApiDocument, type OpenAPIObject, type OpenApiRouter } from 'trpc-to-openapi';
import type { oas31 } from 'zod-openapi';
import { scopesOf, type Access } from '../procedures/authorize.ts';
import type { Upload } from '../procedures/meta.ts';
import { MERGE_PATCH } from './body.ts';
import type { FaceSettings } from './face-settings.ts';
import {
  HEADERS,
  ETAG_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  IF_MATCH_HEADER,
  RESPONSE_HEADERS,
} from './openapi-components.ts';
import { errorResponses } from './openapi-errors.ts';
import { describeParameter } from './openapi-parameters.ts';
import { codeSamples } from './openapi-samples.ts';
import type { Route, RouteTable } from './routes.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Schema = oas31.SchemaObject | oas31.ReferenceObject;
type Schemas = Record<string, Schema>;

/** Generates the OpenAPI document of a REST interface from the procedures, and adds what all responses share. */
export function openApiDocument(
  face: FaceSettings,
  router: OpenApiRouter,
  { routes }: RouteTable,
  baseUrl: string,
  tokenBrand = 'rst',
): OpenAPIObject {
  const generated = simplify(
    generateOpenApiDocument(router, {
      title: face.title,
      version: '1.0.0',
      openApiVersion: '3.1.1',
      description: face.description,
      baseUrl,
      docsUrl: `${baseUrl}${face.docsPath}`,
      contact: { name: 'The operator of this instance', url: baseUrl },
      license: { name: 'MIT', identifier: 'MIT' },
      securitySchemes: face.securitySchemes(baseUrl, tokenBrand),
    }),
  );
  const schemas: Schemas = simplify({ ...generated.components?.schemas, ...face.problemSchemas });
  const paths: Record<string, oas31.PathItemObject> = {};
  for (const route of routes) {
    const method = route.method.toLowerCase() as Method; // of an endpoint's route
    const operation = generated.paths?.[route.template]?.[method];
    if (operation === undefined) throw new Error(`${route.operationId} was not generated`);
    paths[route.template] = { ...paths[route.template], [method]: completed(face, operation, route, schemas, baseUrl) };
  }

  return {
    ...generated,
    servers: [{ url: baseUrl, description: 'This instance' }],
    tags: Object.values(face.tags),
    paths,
    components: { ...generated.components, schemas, headers: HEADERS },
  };
}

/** Completes an operation with its tag, examples, headers, errors and required access. Its body becomes a named schema. */
function completed(
  face: FaceSettings,
  operation: oas31.OperationObject,
  route: Route,
  schemas: Schemas,
  baseUrl: string,
): oas31.OperationObject {
  const { operationId, template, status, meta } = route;
  const { access } = meta;
  const example = face.examples[operationId] ?? meta.example;
  const tag = face.tags[face.tagOf(template.split('/')) ?? ''];
  if (access === undefined || example === undefined || tag === undefined || meta.returns === undefined)
    throw new Error(`${operationId} lacks access, example, tag or the description of its result`);

  const { parameters = [], requestBody, responses, ...rest } = operation;
  const answer = contentSchema(responses?.['200']);
  const declared = meta.upload === undefined ? parameters : queryOf(requestBody, route);
  const headers = [
    ...(route.takesIdempotencyKey ? [IDEMPOTENCY_KEY_HEADER] : []),
    ...(route.takesIfMatch ? [IF_MATCH_HEADER] : []),
  ];
  return {
    ...rest,
    tags: [tag.name],
    description: [operation.description, ...accessSentences(access, route)].filter(Boolean).join('\n\n'),
    security: face.security(access),
    ...(declared.length === 0 && headers.length === 0
      ? {}
      : { parameters: [...declared.map((parameter) => described(face, parameter, route)), ...headers] }),
    ...(meta.upload !== undefined && { requestBody: uploadBody(meta.upload) }),
    ...(requestBody === undefined || meta.upload !== undefined
      ? {}
      : { requestBody: namedBody(contentSchema(requestBody), route, example.body, schemas) }),
    responses: {
      [status]: {
        description: meta.returns,
        headers: meta.isVersioned ? { ...RESPONSE_HEADERS, ...ETAG_HEADER } : RESPONSE_HEADERS,
        content: { 'application/json': { schema: answer, example: example.answer } },
      },
      ...errorResponses(face, route, baseUrl),
    },
    'x-codeSamples': codeSamples(face, route, example, baseUrl),
  };
}

/** Describes the required access, which the procedure builders enforce. */
function accessSentences(access: Access, { pathParams }: Route): string[] {
  const { scope, accountLevel, permission, isOperatorApi } = access;
  if (isOperatorApi) {
    const scopes = scopesOf(access).map((one) => `\`${one}\``);
    const named = scopes.length === 1 ? `the scope ${scopes[0]}` : `the scopes ${scopes.join(', ')}`;
    return [`**Needs** ${scopes.length === 0 ? 'any operator key' : named}.`];
  }
  const needs = [
    scope === null ? 'any valid credential' : `a credential with the scope \`${scope}\``,
    ...(permission === null ? [] : [`a role in the team with the permission \`${permission}\``]),
  ];
  return [
    `**Needs** ${needs.join(' and ')}.`,
    ...(accountLevel ? ['**Account-level**: team credentials get 403.'] : []),
    ...(pathParams.includes('teamId') ? ['Callers who are not active members of the team get 404.'] : []),
  ];
}

type Content = { content?: oas31.ContentObject | undefined } | oas31.ReferenceObject | undefined;

function contentSchema(holder: Content): Schema {
  const schema = holder !== undefined && 'content' in holder ? holder.content?.['application/json']?.schema : undefined;
  if (schema === undefined) throw new Error('trpc-to-openapi generated no content');
  return schema;
}

function namedBody(
  schema: Schema,
  { operationId, meta }: Route,
  example: unknown,
  schemas: Schemas,
): oas31.RequestBodyObject {
  const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Body`;
  schemas[name] = { description: `The body of \`${operationId}\`.`, ...schema };
  const content = { schema: { $ref: `#/components/schemas/${name}` }, example };
  return {
    required: true,
    content: { 'application/json': content, ...(meta.isMergePatch === true && { [MERGE_PATCH]: content }) },
  };
}

/** Returns the parameters of an operation whose input was taken for its body. */
function queryOf(body: Content, { queryParams }: Route): oas31.ParameterObject[] {
  const { properties = {} } = contentSchema(body) as oas31.SchemaObject; // of an object
  return queryParams.map((name) => ({ name, in: 'query', schema: properties[name] ?? {} }));
}

const uploadBody = ({ type, example }: Upload): oas31.RequestBodyObject => ({
  required: true,
  content: { [type]: { schema: { type: 'string' }, example } },
});

function described(
  face: FaceSettings,
  parameter: oas31.ParameterObject | oas31.ReferenceObject,
  route: Route,
): oas31.ParameterObject {
  if (!('name' in parameter)) throw new Error(`${route.operationId} has a parameter by reference`);
  return { ...parameter, ...describeParameter(face, route, parameter.name) };
}

/**
 * Rewrites generated schemas for clients: nullable types as `type: [x, 'null']`, objects open to new
 * members, and defaults as text, because generators make required members of them.
 */
function simplify<Node>(node: Node): Node {
  if (Array.isArray(node)) return node.map(simplify) as Node; // the same array, simplified
  if (typeof node !== 'object' || node === null) return node;
  const { anyOf: options, ...rest } = node as { anyOf?: readonly Record<string, unknown>[] };
  const anyOf = isNullableOpenEnum(options) ? [options[0].anyOf[0], { type: ['string', 'null'] }] : options;
  const [first, second] = anyOf ?? [];
  if (first !== undefined && typeof first['type'] === 'string' && second?.['type'] === 'null') {
    const values = Array.isArray(first['enum']) ? { enum: [...(first['enum'] as unknown[]), null] } : {};
    return simplify({ ...first, ...rest, ...values, type: [first['type'], 'null'] }) as Node; // an equivalent schema
  }
  return Object.fromEntries(
    Object.entries(withDefaultAsText({ ...rest, ...(anyOf && { anyOf }) })).flatMap(([key, value]) =>
      key === 'additionalProperties' && value === false ? [] : [[key, simplify(value)]],
    ),
  ) as Node; // as above
}

type Union = readonly Record<string, unknown>[];

/** Whether the options are those of an `openEnum` that is nullable. */
const isNullableOpenEnum = (options: Union | undefined): options is readonly [{ readonly anyOf: Union }, Union[0]] =>
  options?.length === 2 && Array.isArray(options[0]?.['anyOf']) && options[1]?.['type'] === 'null';

function withDefaultAsText(node: object): object {
  if (!('default' in node) || !('type' in node)) return node;
  const { default: value, ...rest } = node as { default: unknown; description?: string };
  return {
    ...rest,
    description: [rest.description, `Default: \`${typeof value === 'string' ? value : JSON.stringify(value)}\`.`]
      .filter(Boolean)
      .join(' '),
  };
}
