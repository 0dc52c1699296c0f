import { describe, expect, test } from 'vitest';
import { createTokens } from '../../src/crypto/tokens.ts';
import { BASE_URL, components, document, operatorDocument, published, type Schema } from './documents.ts';
import { ALL_SCOPES, OPERATIONS } from './operations.ts';

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

  test('every schema and member is described, also in the operator API', () => {
    const undescribed = ({ properties = {}, items, anyOf = [] }: Schema, name: string): string[] => [
      ...Object.entries(properties).flatMap(([member, schema]) => [
        ...(schema.description === undefined && schema.$ref === undefined ? [`${name}.${member}`] : []),
        ...undescribed(schema, `${name}.${member}`),
      ]),
      ...[...(items === undefined ? [] : [items]), ...anyOf].flatMap((inner) => undescribed(inner, name)),
    ];
    const all = [document, operatorDocument].flatMap((each) => Object.entries(each.components.schemas));
    expect(all.filter(([, { description }]) => description === undefined).map(([name]) => name)).toEqual([]);
    expect(all.flatMap(([name, schema]) => undescribed(schema, name))).toEqual([]);
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
