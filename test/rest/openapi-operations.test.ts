import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { components, operation, published, type Schema } from './documents.ts';
import { OPERATIONS } from './operations.ts';

const everyOperation = OPERATIONS.map(({ id }) => id);

const isNamed = (schema: Schema): boolean =>
  (schema.items ?? schema).$ref?.startsWith('#/components/schemas/') === true;

const RATE = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'X-Request-Id',
];

describe.each(OPERATIONS)('$id', ({ id, path, scope, status, accountLevel, permission, body }) => {
  test('requires the scope and permission of the specification', () => {
    const { security, description } = operation(id);
    expect(security).toEqual([{ bearer: [] }, { oauth2: scope === null ? [] : [scope] }]);
    const named = [scope, permission].filter((word) => word !== null);
    expect(named.filter((word) => !description.includes(`\`${word}\``))).toEqual([]);
    expect(description.includes('Account-level')).toBe(accountLevel);
  });

  test('declares its success and the statuses of the specification', () => {
    const { responses } = operation(id);
    expect(Object.keys(responses).toSorted()).toEqual(
      [String(status), '400', '401', '403', '404', '429', 'default'].toSorted(),
    );
    const { headers, content = {} } = responses[status] ?? {};
    expect(Object.keys(headers ?? {})).toEqual(RATE);
    expect(Object.keys(content)).toEqual(['application/json']);
    expect(responses[status]?.description).not.toMatch(/^(Done|Created)\.$/);
  });

  test('describes each error with its own examples, in the status of its code', () => {
    const { [status]: _success, ...errors } = operation(id).responses;
    for (const [declared, { description, headers = {}, content = {} }] of Object.entries(errors)) {
      expect(Object.keys(headers)).toEqual(expect.arrayContaining(RATE));
      expect('WWW-Authenticate' in headers).toBe(declared === '401' || declared === '403');
      expect('Retry-After' in headers).toBe(declared === '429' || declared === 'default');
      expect(Object.keys(content)).toEqual(['application/problem+json']);
      const { schema, examples = {} } = content['application/problem+json'] ?? {};
      expect(schema).toEqual({ $ref: '#/components/schemas/Problem' });
      for (const [code, { value }] of Object.entries(examples)) {
        expect(value.code).toBe(code);
        expect(description).toContain(`\`${code}\``);
        if (declared !== 'default') expect(value.status).toBe(Number(declared));
      }
    }
  });

  test('names the errors that its access implies, and no other of them', () => {
    const { responses } = operation(id);
    const codes = Object.values(responses).flatMap(({ content = {} }) =>
      Object.keys(content['application/problem+json']?.examples ?? {}),
    );
    const implied = [
      ...(scope === null ? [] : ['scope_missing']),
      ...(accountLevel ? ['team_credential_refused'] : []),
      ...(body === undefined ? [] : ['malformed_json', 'body_too_large', 'unsupported_media_type']),
    ];
    const others = [
      'scope_missing',
      'team_credential_refused',
      'malformed_json',
      'body_too_large',
      'unsupported_media_type',
    ];
    expect(codes.filter((code) => others.includes(code)).toSorted()).toEqual(implied.toSorted());
    if (permission !== null) expect(codes).toContain('permission_missing');
    if (path.includes('{teamId}')) expect(codes).toContain('team_not_found');
  });

  test('has samples in three languages', () => {
    const samples = operation(id)['x-codeSamples'];
    expect(samples.map(({ label }) => label)).toEqual(['curl', 'TypeScript', 'Python']);
    for (const { source } of samples) expect(source).not.toMatch(/\{\w+Id\}|undefined/);
  });

  test('takes and gives named schemas', () => {
    const { requestBody, responses } = operation(id);
    const answer = responses[status]?.content?.['application/json'];
    expect(answer && isNamed(answer.schema)).toBe(true);
    expect(requestBody === undefined).toBe(body === undefined);
    if (requestBody === undefined) return;
    expect(requestBody.required).toBe(true);
    expect(Object.keys(requestBody.content)).toEqual(['application/json']);
    expect(requestBody.content['application/json']?.schema.$ref).toBe(
      `#/components/schemas/${id.charAt(0).toUpperCase()}${id.slice(1)}Body`,
    );
  });

  test('describes its parameters and their lengths', () => {
    const parameters = operation(id).parameters ?? [];
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(inPath);
    expect(parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)).toEqual(
      id === 'listApiKeys' ? ['teamId'] : [],
    );
    for (const { in: place, required, description, schema } of parameters) {
      expect(required ?? false).toBe(place === 'path');
      expect(description).toBeTruthy();
      expect(schema).toMatchObject({ type: 'string', minLength: 1, maxLength: 255 });
    }
  });
});

describe('examples', () => {
  const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
  ajv.addSchema({ $id: 'openapi', components });
  const faults = ({ $ref = '', items }: Schema, example: unknown) => {
    const validate = ajv.compile(
      items === undefined ? { $ref: `openapi${$ref}` } : { type: 'array', items: { $ref: `openapi${items.$ref}` } },
    );
    return validate(example) ? [] : validate.errors;
  };

  test.each(everyOperation)('%s shows a valid body and a valid answer', (id) => {
    const { requestBody, responses } = operation(id);
    const answers = [requestBody, responses['200'], responses['201']].flatMap(
      (holder) => holder?.content?.['application/json'] ?? [],
    );
    expect(answers.length).toBeGreaterThan(0);
    for (const { schema, example } of answers) expect(faults(schema, example)).toEqual([]);
  });

  test('of problems are valid problem documents', () => {
    for (const { content } of published.flatMap(({ operation: { responses } }) => Object.values(responses))) {
      const { schema = {}, examples = {} } = content?.['application/problem+json'] ?? {};
      for (const { value } of Object.values(examples)) expect(faults(schema, value)).toEqual([]);
    }
  });
});
