import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { createTokens } from '../../src/crypto/tokens.ts';
import { EVENTS } from '../../src/events/catalogue.ts';
import { PROBLEMS } from '../../src/problems.ts';
import { API_FACE } from '../../src/rest/api-face.ts';
import { describeFace } from '../../src/rest/describe-face.ts';
import { OPERATOR_FACE } from '../../src/rest/operator-face.ts';
import { apiRouter, operatorRouter } from '../../src/router.ts';
import { ALL_SCOPES, OPERATIONS } from './operations.ts';

const ROOT = join(import.meta.dirname, '../..');
// Not localhost, which the linters reject in a published description.
const BASE_URL = 'https://roster.test';

type Schema = {
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
type Media = {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value: { code: string; status: number } }>;
};
type Response = { description?: string; headers?: Record<string, unknown>; content?: Record<string, Media> };
type Parameter = { in: string; name: string; required?: boolean; description?: string; schema: Schema };
type Operation = {
  operationId: string;
  tags: string[];
  description: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Response>;
  'x-codeSamples': { label: string; source: string }[];
};
type Document = {
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

const generated = describeFace(API_FACE, apiRouter, BASE_URL).document;
const document = JSON.parse(JSON.stringify(generated)) as Document; // as clients read it
const { components } = document;

const published = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);
const operation = (id: string): Operation => {
  const found = published.find((entry) => entry.operation.operationId === id);
  if (found === undefined) throw new Error(`The document has no ${id}.`);
  return found.operation;
};
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

describe('the document', () => {
  test('names itself, its version and this installation', () => {
    expect(document.openapi).toBe('3.1.1');
    expect(document.info).toMatchObject({ title: 'Roster API', version: '1.0.0' });
    expect(document.servers.map(({ url }) => url)).toEqual([BASE_URL]);
  });

  test('lists the 20 operations of the specification and no other', () => {
    const rows = published.map(({ path, method, operation: { operationId } }) => `${operationId} ${method} ${path}`);
    expect(rows.toSorted()).toEqual(OPERATIONS.map(({ id, method, path }) => `${id} ${method} ${path}`).toSorted());
    expect(rows).toHaveLength(20);
  });

  test('each operation has one tag, of those declared, which have a text', () => {
    const declared = document.tags.map(({ name }) => name);
    expect(document.tags.filter(({ description = '' }) => !/^[A-Z].+\.$/.test(description))).toEqual([]);
    expect(
      published.filter(({ operation: { tags } }) => tags.length !== 1 || !declared.includes(tags[0] ?? '')),
    ).toEqual([]);
  });

  test('the schemas have names', () => {
    expect(Object.keys(components.schemas).toSorted()).toEqual(
      [
        'Account',
        'ApiKey',
        'CreateApiKeyBody',
        'CreateTeamBody',
        'CreateTeamInvitationBody',
        'CreatedApiKey',
        'Credential',
        'DeviceType',
        'Invitation',
        'Member',
        'Permission',
        'Problem',
        'Role',
        'Scope',
        'Session',
        'Subscription',
        'Success',
        'Team',
        'UpdateApiKeyBody',
        'UpdateMeBody',
        'UpdateTeamBody',
        'ValidationEntry',
      ].toSorted(),
    );
    expect(components.schemas['Scope']?.enum).toEqual(ALL_SCOPES);
    expect(components.schemas['Credential']?.properties?.['scopes']?.items).toEqual({
      $ref: '#/components/schemas/Scope',
    });
  });

  // Guarantees that generators make an optional type of each nullable and no union of its own.
  test('nullables are types with null', () => {
    expect(JSON.stringify(document)).not.toContain('{"type":"null"}');
    expect(components.schemas['Account']?.properties?.['emailVerified']).toMatchObject({
      type: ['string', 'null'],
      format: 'date-time',
    });
    expect(components.schemas['Credential']?.properties?.['team']).toMatchObject({ type: ['object', 'null'] });
    expect(components.schemas['Subscription']?.properties?.['interval']).toMatchObject({
      type: ['string', 'null'],
      enum: ['month', 'year', null],
    });
  });

  test('the codes of problems are those of the catalogue, and open to new ones', () => {
    expect(components.schemas['Problem']?.properties?.['code']).toMatchObject({
      anyOf: [{ type: 'string', enum: Object.keys(PROBLEMS) }, { type: 'string' }],
    });
  });

  // Guarantees that a server can add members without breaking validating clients of an older document.
  test('responses are open to new members, and no default makes a member required in generated clients', () => {
    const text = JSON.stringify(document.components.schemas);
    expect(text).not.toContain('"additionalProperties":false');
    expect(text).not.toContain('"default":');
    expect(components.schemas['CreateTeamInvitationBody']?.properties?.['roleId']).toMatchObject({
      description: 'The id of a role that the caller can assign. Default: `member`.',
    });
  });

  test('every schema and member is described, also in the operator API', () => {
    const undescribed = ({ properties = {}, items, anyOf = [] }: Schema, name: string): string[] => [
      ...Object.entries(properties).flatMap(([member, schema]) => [
        ...(schema.description === undefined && schema.$ref === undefined ? [`${name}.${member}`] : []),
        ...undescribed(schema, `${name}.${member}`),
      ]),
      ...[...(items === undefined ? [] : [items]), ...anyOf].flatMap((inner) => undescribed(inner, name)),
    ];
    const { document: ofOperator } = describeFace(OPERATOR_FACE, operatorRouter, BASE_URL);
    const all = [components.schemas, ofOperator.components?.schemas as Record<string, Schema>].flatMap((schemas) =>
      Object.entries(schemas),
    );
    expect(all.filter(([, { description }]) => description === undefined).map(([name]) => name)).toEqual([]);
    expect(all.flatMap(([name, schema]) => undescribed(schema, name))).toEqual([]);
  });

  // Guarantees that generated clients that validate accept events of a newer version.
  test('the types of events are those of the catalogue, and open to new ones', () => {
    const { document: ofOperator } = describeFace(OPERATOR_FACE, operatorRouter, BASE_URL);
    const { Event } = JSON.parse(JSON.stringify(ofOperator.components?.schemas)) as Record<string, Schema>;
    expect(Event?.properties?.['type']).toEqual({
      anyOf: [{ type: 'string', enum: Object.keys(EVENTS) }, { type: 'string' }],
      description: 'More types can be added.',
    });
  });
});

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

describe('security schemes', () => {
  test('OAuth: the authorization code flow with both endpoints and the ten scopes', () => {
    expect(components.securitySchemes.oauth2.flows).toMatchObject({
      authorizationCode: { authorizationUrl: `${BASE_URL}/oauth/authorize`, tokenUrl: `${BASE_URL}/oauth/token` },
    });
    const { authorizationCode } = components.securitySchemes.oauth2.flows as { authorizationCode: { scopes: object } }; // as matched
    expect(Object.keys(authorizationCode.scopes)).toEqual(ALL_SCOPES);
  });

  // Guarantees that the pattern for secret scanners matches real keys.
  test('bearer: the published regular expression finds a key in a text', () => {
    const { scheme, description } = components.securitySchemes.bearer;
    const [pattern = ''] = /rst_\(.+\}/.exec(description) ?? [];
    const { secret } = createTokens('rst').generate('personalKey');
    expect(scheme).toBe('bearer');
    expect(new RegExp(pattern).exec(`KEY=${secret}\n`)?.[0]).toBe(secret);
  });
});

describe('linters', () => {
  const LINTERS = {
    redocly: ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--config', 'redocly.yaml'],
    spectral: [
      'node_modules/@stoplight/spectral-cli/dist/index.js',
      'lint',
      '--ruleset',
      '.spectral.yaml',
      '--fail-severity',
      'hint',
    ],
  };

  test.each(Object.entries(LINTERS))('%s finds nothing', async (_name, command) => {
    const folder = mkdtempSync(join(tmpdir(), 'roster-openapi-'));
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(document));
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

    const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(process.execPath, [...command, file], { cwd: ROOT, env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, output: stdout + stderr }),
      );
    });
    rmSync(folder, { recursive: true });

    expect({ code, output }).toMatchObject({ code: 0 });
  });
});
