import { describe, expect } from 'vitest';
import { describeFace } from '../../src/rest/describe-face.ts';
import { OPERATOR_FACE } from '../../src/rest/operator-face.ts';
import { operatorRouter } from '../../src/router.ts';
import { startApi, testWith } from '../support/api.ts';
import { aRequest, OPERATIONS, type Operation } from './operations.ts';

type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};
type Parameter = { readonly in: string; readonly name: string; readonly schema: Schema };
type Described = {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
};

const document = describeFace(OPERATOR_FACE, operatorRouter, 'http://localhost:3000').document as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolve(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});

type Fault = readonly [value: unknown, code: string];

/** What a member or parameter must not be, and the code that says so. */
function faultsOf(declared: Schema, isText: boolean): readonly Fault[] {
  const schema = resolve(declared);
  const options = schema.anyOf?.map(resolve) ?? [schema];
  const types = options.flatMap(({ type }) => type ?? []);
  const isNullable = types.includes('null');
  const one = options.find(({ type }) => type !== 'null') ?? {};
  const faults: Fault[] = [];
  if (isText && types.some((type) => ['integer', 'number', 'boolean'].includes(type)))
    faults.push(['x', 'invalid_type']);
  if (!isText && !types.includes('object')) faults.push([{}, 'invalid_type']);
  if (!isText && !isNullable) faults.push([null, 'invalid_type']);
  if (one.enum !== undefined) faults.push(['nothing-of-it', 'invalid_value']);
  if (one.minLength !== undefined && one.minLength > 0 && one.format === undefined) faults.push(['', 'min_length']);
  if (one.maxLength !== undefined && one.format === undefined)
    faults.push(['x'.repeat(one.maxLength + 1), 'max_length']);
  if (one.minimum !== undefined && types.includes('integer')) faults.push([one.minimum - 1, 'min_value']);
  if (one.maximum !== undefined && types.includes('integer')) faults.push([one.maximum + 1, 'max_value']);
  if (one.minItems !== undefined && one.minItems > 0) faults.push([[], 'min_length']);
  return faults;
}

type Case = {
  readonly operation: Operation;
  readonly in: 'path' | 'query' | 'body';
  readonly name: string;
  readonly faults: readonly Fault[];
  readonly isRequired: boolean;
};

const CASES: readonly Case[] = OPERATIONS.flatMap((operation) => {
  const described = document.paths[operation.template]?.[operation.method.toLowerCase()] ?? {};
  const schema = resolve(described.requestBody?.content['application/json']?.schema ?? {});
  const isIn = (place: string): place is 'path' | 'query' => place === 'path' || place === 'query';
  return [
    ...(described.parameters ?? []).flatMap(({ in: place, name, schema: own }) =>
      isIn(place) ? [{ operation, in: place, name, faults: faultsOf(own, true), isRequired: false }] : [],
    ),
    ...Object.entries(schema.properties ?? {}).map(([name, own]) => ({
      operation,
      in: 'body' as const,
      name,
      faults: faultsOf(own, false),
      isRequired: schema.required?.includes(name) ?? false,
    })),
  ];
});

const test = testWith(() => startApi());

describe('each constraint that the document of the operator API declares is enforced, and named where it is broken', () => {
  test('of every operation', () => {
    expect(new Set(CASES.map(({ operation }) => operation.id)).size).toBeGreaterThan(30);
    expect(CASES.flatMap(({ faults }) => faults).length).toBeGreaterThan(250);
  });

  test.for(CASES.map((one) => [`${one.operation.id}: ${one.name} in ${one.in}`, one] as const))(
    '%s',
    async ([, { operation, in: place, name, faults, isRequired }], { api }) => {
      const { secret } = await api.anOperatorKey();
      const sent = aRequest(operation, secret);
      const valid = (place === 'body' ? JSON.parse(String(sent.body)) : {}) as Record<string, unknown>;
      const outcome = async (value: unknown) => {
        const text = encodeURIComponent(String(value));
        const path =
          place === 'path'
            ? operation.template.replaceAll(/\{(\w+)\}/g, (_, each: string) => (each === name ? text : 'unknown'))
            : place === 'query'
              ? `${sent.path}?${name}=${text}`
              : sent.path;
        const body = place === 'body' ? { body: JSON.stringify({ ...valid, [name]: value }) } : {};
        const answer = await api.anonymous.send({ ...sent, path, ...body });
        return [answer.status, answer.body.errors ?? answer.body.code];
      };
      const expected = (code: string) => [400, [expect.objectContaining({ in: place, pointer: `/${name}`, code })]];
      for (const [value, code] of faults) {
        if (place === 'path' && value === '') continue; // another path
        expect([value, ...(await outcome(value))]).toEqual([value, ...expected(code)]);
      }
      if (isRequired) expect(await outcome(undefined)).toEqual(expected('required'));
    },
  );
});
