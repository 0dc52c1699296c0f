import pg from 'pg';
import { describe, expect } from 'vitest';
import { ADVISORY_LOCKS } from '../../src/db/advisory-locks.ts';
import { readCatalogue } from '../../src/resources/permissions/catalogue.queries.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { as, outcomeOf } from '../trpc/console.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';

const test = testWith(() => startApi());
const PATH = '/operator/v1/permissions';
const declare = (name: string) => ({ name, title: { en: name }, keys: true });

async function aScene(api: Api) {
  await declarePermissions(api, [declare('invoices:read'), declare('invoices:write')]);
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const operator = api.as(await api.anOperatorKey());
  const apply = (names: readonly string[], more: object = {}, headers: Record<string, string> = {}) =>
    operator.send({
      method: 'PUT',
      path: PATH,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ permissions: names.map(declare), ...more }),
    });
  return { owner, team, teamId: team.id, operator, apply, trpc: await as(api, owner) };
}
type Scene = Awaited<ReturnType<typeof aScene>>;

describe('operators who apply catalogues at once', () => {
  test('take turns: each applies a whole one, with a version of its own', async ({ api }) => {
    const { apply } = await aScene(api);
    const { version } = await readCatalogue(api.services.db);
    const names = Array.from({ length: 6 }, (_, i) => `area:action${i}`);
    const answers = await Promise.all(names.map((name) => apply([name])));
    const versions = answers.map(({ body }) => body.version as number);
    expect(versions.toSorted((a, b) => a - b)).toEqual(names.map((_, i) => version + 1 + i));
    const last = names[versions.indexOf(version + names.length)];
    const { permissions } = await readCatalogue(api.services.db);
    expect(permissions.map(({ name }) => name)).toEqual([last]);
  });

  test('who have read the same version replace it once, and the others are told so', async ({ api }) => {
    const { apply } = await aScene(api);
    const { version } = await readCatalogue(api.services.db);
    const names = Array.from({ length: 6 }, (_, i) => `area:action${i}`);
    const answers = await Promise.all(names.map((name) => apply([name], {}, { 'if-match': `"${version}"` })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412, 412, 412]);
    for (const answer of answers.filter(({ status }) => status === 412)) expect(answer).toBeProblem('version_mismatch');
    expect((await readCatalogue(api.services.db)).version).toBe(version + 1);
  });
});

/** Whatever gives the permission that is being removed. */
const GIVES: Readonly<Record<string, (api: Api, scene: Scene) => Promise<string | number>>> = {
  'a role': (_, { trpc, teamId }) =>
    outcomeOf(
      trpc.roles.create.mutate({ teamId, name: 'New', permissions: [], productPermissions: ['invoices:write'] }),
    ),
  'a changed role': async (api, { trpc, team, teamId }) => {
    const { id: roleId } = await api.aRole(team, []);
    return outcomeOf(trpc.roles.update.mutate({ teamId, roleId, productPermissions: ['invoices:write'] }));
  },
  'a key': (_, { trpc }) =>
    outcomeOf(trpc.apiKeys.create.mutate({ name: 'k', scopes: [], permissions: ['invoices:write'] })),
  'a changed key': async (api, { trpc, owner }) => {
    const { id: keyId } = await api.anApiKey(owner);
    return outcomeOf(trpc.apiKeys.setPermissions.mutate({ keyId, permissions: ['invoices:write'] }));
  },
  'a role template': async (_, { operator }) => {
    const body = { name: 'New', permissions: [], productPermissions: ['invoices:write'] };
    return (await operator.post('/operator/v1/role-templates', body)).body.code;
  },
  'an OAuth client': async (api, { operator }) => {
    const { id } = await api.anOAuthClient({ confidential: true });
    return (await operator.patch(`/operator/v1/clients/${id}`, { permissions: ['invoices:write'] })).body.code;
  },
};

// Guarantees that nobody holds a permission that is not declared, whatever happens at the same time.
test.for(Object.keys(GIVES))('%s does not get a permission that is removed meanwhile', async (kind, { api }) => {
  const scene = await aScene(api);
  const other = new pg.Client({ connectionString: api.databaseUrl });
  await other.connect();
  try {
    await other.query('begin');
    await other.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.permissionCatalogue})`);
    await other.query(`delete from declared_permission where name = 'invoices:write'`);
    const given = GIVES[kind]?.(api, scene);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(() => api.rows(waiting), { interval: 5 }).toHaveLength(1);
    await other.query('commit');
    expect(await given).toBe('validation_failed');
  } finally {
    await other.end();
  }
  const tables = ['role', 'role_template', 'api_key', 'oauth_client'];
  for (const table of tables)
    expect(
      await api.rows(`select id from ${table} where id <> 'owner' and 'invoices:write' = any(product_permissions)`),
    ).toEqual([]);
});

test('a permission that 10,000 keys hold needs a decision, and none keeps it then', async ({ api }) => {
  const { owner, apply } = await aScene(api);
  const { id } = await api.anApiKey(owner);
  await api.rows(`update api_key set product_permissions = '{invoices:read,invoices:write}' where id = $1`, [id]);
  await api.rows(
    `insert into api_key select (jsonb_populate_record(k, jsonb_build_object('id', 'key_many_' || n))).*
     from api_key k, generate_series(2, 10000) n where k.id = $1`,
    [id],
  );
  const held = () =>
    api.rows(
      `select product_permissions as names, count(*)::int as keys from api_key where account_id = $1 group by 1`,
      [owner.id],
    );
  const before = await readCatalogue(api.services.db);

  const refused = await apply(['invoices:read']);
  expect(refused).toBeProblem('permission_held');
  expect(refused.body.detail).toContain('`invoices:write` is held by 10000 API keys.');
  expect(await readCatalogue(api.services.db)).toEqual(before);
  expect(await held()).toEqual([{ names: ['invoices:read', 'invoices:write'], keys: 10_000 }]);

  const removals = { 'invoices:write': { replaceWith: 'invoices:edit' } };
  expect((await apply(['invoices:read', 'invoices:edit'], { removals })).body.removed).toMatchObject([
    { keys: 10_000 },
  ]);
  expect(await held()).toEqual([{ names: ['invoices:edit', 'invoices:read'], keys: 10_000 }]);
  await apply(['invoices:read'], { removals: { 'invoices:edit': 'drop' } });
  expect(await held()).toEqual([{ names: ['invoices:read'], keys: 10_000 }]);
});
