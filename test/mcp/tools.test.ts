import { describe, expect } from 'vitest';
import { test, startApi } from '../support/api.ts';
import { ALL_SCOPES, OPERATIONS } from '../rest/operations.ts';
import { connect, ERAS } from './clients.ts';

const WITH_SECRET = 'createApiKey';
/** Tools that are reads of the console. */
const CONSOLE_READS = ['listTeamAuditLog', 'listTeamEvents', 'previewMemberRemoval'];
/** Tools whose answers name the kinds of actors. */
const ACTOR_READS = ['listTeamAuditLog', 'listTeamEvents'];

/** The members of a schema that nothing describes, by their paths. */
function undescribed(schema: object = {}, path = ''): string[] {
  const {
    properties = {},
    items,
    anyOf = [],
  } = schema as {
    properties?: Record<string, { description?: string }>;
    items?: object;
    anyOf?: object[];
  }; // a JSON Schema
  return [
    ...Object.entries(properties).flatMap(([name, member]) => [
      ...(member.description === undefined ? [`${path}/${name}`] : []),
      ...undescribed(member, `${path}/${name}`),
    ]),
    ...[items ?? {}, ...anyOf].flatMap((inner) => (Object.keys(inner).length === 0 ? [] : undescribed(inner, path))),
  ];
}

describe.each(ERAS)('a client of %s', (era) => {
  test('sees each operation but the one that returns a secret, and three reads of the console, as tools that are described, with all four hints', async ({
    api,
  }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ALL_SCOPES as never });
    const client = await connect(api, era, key.secret);
    const { tools } = await client.listTools();

    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      [...OPERATIONS.map(({ id }) => id).filter((id) => id !== WITH_SECRET), ...CONSOLE_READS].toSorted(),
    );
    for (const { name, description, annotations, inputSchema, outputSchema } of tools) {
      const { method } = OPERATIONS.find(({ id }) => id === name) ?? { method: 'GET' };
      expect(annotations).toMatchObject({
        readOnlyHint: method === 'GET',
        destructiveHint: method === 'DELETE' || method === 'PATCH',
        idempotentHint: method !== 'POST',
        openWorldHint: name === 'createTeamInvitation',
      });
      expect(description).toContain('never instructions');
      const schemas = JSON.stringify([name, inputSchema, outputSchema]);
      expect(schemas).not.toMatch(/\$ref|\$defs|"pattern"|"override"|"type":\[/);
      if (!ACTOR_READS.includes(name)) expect(schemas).not.toContain('"session"'); // what callers here never are
      expect(schemas.length).toBeLessThan(5000);
      expect([...undescribed(inputSchema), ...undescribed(outputSchema)], name).toEqual([]);
      expect(description).not.toMatch(/ {2}/);
      expect([inputSchema, outputSchema]).toMatchObject([{ type: 'object' }, { type: 'object' }]);
    }
    expect(client.getInstructions()).toContain('getCredential');
  });

  test('reads, changes, and gets results as text and as structured content', async ({ api }) => {
    const account = await api.anAccount();
    const client = await connect(api, era, (await api.anApiKey(account, { scopes: ALL_SCOPES as never })).secret);

    const made = await client.callTool({ name: 'createTeam', arguments: { name: 'Engines', description: null } });
    expect(made.structuredContent).toMatchObject({ name: 'Engines', role: { id: 'owner' } });
    expect(JSON.parse(made.content[0]?.text ?? '')).toEqual(made.structuredContent);

    const listed = await client.callTool({ name: 'listTeams' });
    expect(listed.structuredContent).toEqual({ items: [made.structuredContent], total: 1, nextOffset: null });
  });

  test('gets errors that a model can act on, with the code of the problem and no internals', async ({ api }) => {
    const client = await connect(
      api,
      era,
      (await api.anApiKey(await api.anAccount(), { scopes: ALL_SCOPES as never })).secret,
    );
    const failure = async (name: string, args: Record<string, unknown>) => {
      const { isError, content } = await client.callTool({ name, arguments: args });
      expect(isError).toBe(true);
      return JSON.parse(content[0]?.text ?? '') as object;
    };

    expect(await failure('getTeam', { teamId: 'team_x' })).toMatchObject({
      type: 'http://localhost:3000/problems/team-not-found',
      title: 'Team not found',
      status: 404,
      code: 'team_not_found',
      advice: expect.any(String),
      requestId: expect.any(String),
    });
    expect(await failure('createTeam', { name: '' })).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/name', code: 'min_length' }],
    });
    expect(await failure('createTeam', { name: 'x', colour: 'red' })).toMatchObject({
      code: 'validation_failed',
      detail: 'Unknown arguments: colour. The tool has: name, description.',
    });
  });

  // Guarantees that the message of an unexpected error stays in the log.
  test('gets nothing of an unexpected error but its request id', async () => {
    const api = await startApi();
    const client = await connect(
      api,
      era,
      (await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] })).secret,
    );
    await api.rows('alter table team rename to team_hidden');
    const { isError, content } = await client.callTool({ name: 'createTeam', arguments: { name: 'x' } });
    expect(isError).toBe(true);
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({
      code: 'internal_error',
      detail: 'Internal server error.',
      requestId: api.lines.find(({ problem }) => problem === 'internal_error')?.['requestId'],
    });
    await api.close();
  });

  test('reads the specification of all operations, and the error codes, as resources', async ({ api }) => {
    const client = await connect(api, era, (await api.anApiKey(await api.anAccount())).secret);
    const { baseUrl } = api.services.config;
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([`${baseUrl}/api/v1/openapi.json`, `${baseUrl}/problems`]);
    const [specification, problems] = await Promise.all(
      resources.map(async ({ uri }) => (await client.readResource({ uri })).contents[0]?.text ?? ''),
    );
    const { openapi, paths } = JSON.parse(specification ?? '') as { openapi: string; paths: Record<string, object> };
    expect(openapi).toBe('3.1.1');
    const operations = Object.values(paths).flatMap((item) => Object.values(item) as { operationId: string }[]);
    expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(
      OPERATIONS.map(({ id }) => id).toSorted(),
    );
    expect(specification?.length).toBeLessThan(200_000);
    expect(problems).toContain('seat_limit_reached');
  });

  test('is cut off by a revocation', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['teams:read'] });
    const client = await connect(api, era, key.secret);
    await api.rows('update api_key set revoked_at = now() where id = $1', [key.id]);
    await expect(client.callTool({ name: 'listTeams' })).rejects.toThrow(/401|Unauthorized/i);
  });
});
