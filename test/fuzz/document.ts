import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Schema } from './json.ts';

/** An operation as the served document describes it. */
export type Described = {
  readonly id: string;
  readonly method: string;
  readonly template: string;
  readonly pathParams: readonly string[];
  readonly queryParams: readonly string[];
  readonly scope: string | undefined;
  readonly isAccountLevel: boolean;
  readonly success: number;
  readonly body: Schema | undefined;
  readonly bodyMembers: readonly string[];
  /** Whether the document allows a body. */
  readonly allows: (body: unknown) => boolean;
  /** Whether the document allows a value in the path or the query. */
  readonly allowsParam: (name: string, value: unknown) => boolean;
};

export type Description = {
  readonly operations: ReadonlyMap<string, Described>;
  readonly resolve: (schema: Schema) => Schema;
};

type Parameter = { in: string; name: string; schema: Schema };
type Operation = {
  operationId: string;
  description: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** Reads the document, which the ordinary suite holds to the specification. */
export function describe(document: object): Description {
  const { paths, components } = document as Document;
  const ajv = addFormats.default(new Ajv2020({ strict: false }));
  ajv.addSchema({ $id: 'openapi', components });
  const compiled = (schema: Schema): ValidateFunction =>
    ajv.compile(schema.$ref === undefined ? schema : { $ref: `openapi${schema.$ref}` });
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? schema);

  const operations = Object.entries(paths).flatMap(([template, item]) =>
    Object.entries(item).map(([method, operation]): [string, Described] => {
      const { operationId: id, description, security, parameters = [], requestBody, responses } = operation;
      const body = requestBody?.content['application/json']?.schema;
      const bodyCheck = body && compiled(body);
      const checks = new Map(parameters.map(({ name, schema }) => [name, compiled(schema)]));
      const named = (place: string) => parameters.filter((one) => one.in === place).map(({ name }) => name);
      return [
        id,
        {
          id,
          method: method.toUpperCase(),
          template,
          pathParams: named('path'),
          queryParams: named('query'),
          scope: security.flatMap(({ oauth2 = [] }) => oauth2)[0],
          isAccountLevel: description.includes('Account-level'),
          success: '201' in responses ? 201 : 200,
          body,
          bodyMembers: Object.keys((body && resolve(body).properties) ?? {}),
          allows: (value) => bodyCheck?.(value) ?? true,
          allowsParam: (name, value) => checks.get(name)?.(value) ?? true,
        },
      ];
    }),
  );
  return { operations: new Map(operations), resolve };
}
