import { describe, expect } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { toValidationEntries } from '../../src/procedures/validation.ts';
import { applyCatalogueInput } from '../../src/resources/permissions/permissions.schema.ts';
import { callOf } from '../../src/rest/routes.ts';
import { operatorRouter } from '../../src/router.ts';
import { numberEvents } from '../../src/events/chain/append.ts';
import { OPERATIONS } from '../rest/operations.ts';
import { setLastProof } from '../support/sessions.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { aFirstParty, firstPartyTokens } from '../oauth/first-party-flow.ts';
import { aCode, aProofKey, askConsent, exchange, goodRequest, someTokens } from '../oauth/flow.ts';
import { problemOf, signedIn } from '../support/browser.ts';
import { as, outcomeOf, withKey } from '../trpc/console.ts';

const PATH = '/operator/v1/permissions';
const VERIFY = '/operator/v1/credentials/verify';
const test = testWith(() => startApi());

type Declared = Readonly<Record<string, unknown>> & { readonly name: string };
const declare = (name: string, more: object = {}): Declared => ({ name, title: { en: name }, ...more });

/** Texts in made-up languages. */
const titleOf = (languages: number, text = 'x') =>
  Object.fromEntries(Array.from({ length: languages }, (_, i) => [`aa-${i + 10}`, text]));

const READ = declare('invoices:read', { roles: ['member', 'guest'], keys: true });
const WRITE = declare('invoices:write', { roles: ['member'], keys: true });
const CLOSE = declare('books:close', { sensitive: true });
const ALL = [READ, WRITE, CLOSE];

type Held = { readonly productPermissions?: string[]; readonly permissions: string[] };
type Event = {
  readonly type: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly data: { readonly role?: Held; readonly apiKey?: Held };
};

const operatorOf = async (api: Api) => api.as(await api.anOperatorKey());

async function apply(api: Api, permissions: readonly Declared[], more: object = {}) {
  return (await operatorOf(api)).send({
    method: 'PUT',
    path: PATH,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ permissions, ...more }),
  });
}

/** A team with the whole catalogue, its owner, and what verify answers about a credential. */
async function aScene(api: Api) {
  const present = await (await operatorOf(api)).get(PATH);
  const names = (present.body.permissions as Declared[]).map(({ name }) => name);
  await apply(api, ALL, { removals: Object.fromEntries(names.map((name) => [name, 'drop'])) });
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const operator = await operatorOf(api);
  const verify = async (credential: { secret: string }, asked: object = {}) =>
    (await operator.post(VERIFY, { credential: credential.secret, teamId: team.id, ...asked })).body;
  return { owner, team, teamId: team.id, operator, verify, trpc: await as(api, owner) };
}

describe('the catalogue', () => {
  test('is replaced as a whole, counts its changes, and says what changed', async ({ api }) => {
    const operator = await operatorOf(api);
    const before = (await operator.get(PATH)).body.version as number;
    const { body } = await apply(api, [declare('one:a'), declare('one:b')]);
    expect(body).toMatchObject({ version: before + 1, isApplied: true, added: ['one:a', 'one:b'], changed: [] });

    const again = await apply(api, [declare('one:a'), declare('one:b')]);
    expect(again.body).toMatchObject({ version: before + 1, isApplied: false });
    const changed = await apply(api, [declare('one:b', { deprecated: true })]);
    expect(changed.body).toMatchObject({
      version: before + 2,
      added: [],
      changed: [{ name: 'one:b', fields: ['deprecated'], roles: 0, keys: 0 }],
      removed: [{ name: 'one:a', removal: null, roles: 0, keys: 0 }],
    });
    const read = await operator.get(PATH);
    expect(read.body.permissions).toEqual([
      {
        name: 'one:b',
        title: { en: 'one:b' },
        description: null,
        group: null,
        sensitive: false,
        roles: [],
        keys: false,
        deprecated: true,
      },
    ]);
    expect(read.headers['etag']).toBe(`"${before + 2}"`);
    const events = await api.rows(`select details from audit_event where event = 'permission_catalogue.changed'`);
    expect(events.at(-1)).toEqual({
      details: { catalogueVersion: before + 2, added: [], removed: ['one:a'], redeclared: ['one:b'], number: 2 },
    });
  });

  test('changes nothing in a dry run, and nothing if another version was read', async ({ api }) => {
    const { operator } = await aScene(api);
    const before = (await operator.get(PATH)).body;
    const dry = await apply(api, [READ], { dryRun: true });
    expect(dry.body).toMatchObject({
      isApplied: false,
      removed: [{ name: 'invoices:write' }, { name: 'books:close' }],
    });
    const stale = await operator.send({
      method: 'PUT',
      path: PATH,
      headers: { 'content-type': 'application/json', 'if-match': `"${before.version - 1}"` },
      body: JSON.stringify({ permissions: [READ] }),
    });
    expect(stale).toBeProblem('version_mismatch');
    expect((await operator.get(PATH)).body).toEqual(before);
  });

  test.for([
    ['a duplicate', [READ, READ], '/permissions/1/name'],
    ['a scope of Roster', [declare('members:read')], '/permissions/0/name'],
    ['one of the six', [declare('invite_members')], '/permissions/0/name'],
    ['a capital letter', [declare('Invoices:read')], '/permissions/0/name'],
    ['a long action', [declare(`a:${'b'.repeat(51)}`)], '/permissions/0/name'],
    ['501', Array.from({ length: 501 }, (_, i) => declare(`a:b${i}`)), '/permissions'],
    ['no title', [{ name: 'a:b', title: {} }], '/permissions/0/title'],
    ['31 languages', [{ name: 'a:b', title: titleOf(31) }], '/permissions/0/title'],
    ['an unknown member', [declare('a:b', { secret: true })], '/permissions/0/secret'],
    ['an unknown role', [declare('a:b', { roles: ['owner'] })], '/permissions/0/roles/0'],
  ] as const)('with %s is refused with the place', async ([, permissions, pointer], { api }) => {
    const answer = await apply(api, permissions);
    expect(answer).toBeProblem('validation_failed');
    expect((answer.body.errors as { pointer: string }[]).map((each) => each.pointer)).toContain(pointer);
  });

  test('with members that it does not have is refused with each of them, and with those that exist', async ({
    api,
  }) => {
    const { owner, operator } = await aScene(api);
    const content =
      '"permissions":[{"name":"a:b","title":{"en":"x","__proto__":"y"},"nam":1,"__proto__":2}],' +
      '"removals":{"__proto__":"drop","a:c":{"replaceWith":"a:b","with":1}}';
    const headers = { 'content-type': 'application/json' };
    const refused = await operator.send({ method: 'PUT', path: PATH, headers, body: `{${content}}` });
    expect(refused).toBeProblem('validation_failed');
    const unknown = (pointer: string, allowed?: string) => ({
      in: 'body',
      pointer,
      code: 'invalid_value',
      ...(allowed && { params: { allowed } }),
    });
    const members = 'name, title, description, group, sensitive, roles, keys, deprecated';
    const errors = [
      unknown('/permissions/0/title/__proto__'),
      unknown('/permissions/0/nam', members),
      unknown('/permissions/0/__proto__', members),
      unknown('/removals/__proto__'),
      unknown('/removals/a:c/with', 'replaceWith'),
    ];
    expect(refused.body.errors).toEqual(errors);

    await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
    const permissions = JSON.parse(`{${content}}`) as { permissions: []; removals: {} };
    const { operator: area } = await as(api, owner);
    expect(await problemOf(area.applyPermissions.mutate(permissions))).toMatchObject({ errors });
  });

  test.for([
    ['a text in 60,000 languages', { permissions: [{ name: 'a:b', title: titleOf(60_000, '') }] }, 1],
    ['60,000 removals', { permissions: [], removals: titleOf(60_000, '') }, 1],
    ['5,000 faulty removals', { permissions: [], removals: titleOf(5000) }, 20],
    ['15,000 empty texts', { permissions: Array(500).fill({ name: 'a:b', title: titleOf(30, '') }) }, 20],
    ['1,000 unknown members', { permissions: [{ ...READ, ...titleOf(1000) }] }, 20],
  ] as const)('with %s is refused with at most 20 faults', async ([, content, reported], { api }) => {
    const { permissions, ...more } = content;
    const refused = await apply(api, permissions as readonly Declared[], more);
    expect(refused).toBeProblem('validation_failed');
    expect(refused.body.errors).toHaveLength(reported);
    const more20 = ' Only the first 20 faults are in `errors`.';
    expect(refused.body.detail).toBe(`Invalid request.${reported === 20 ? more20 : ''}`);
    expect(JSON.stringify(refused.body).length).toBeLessThan(8192);
  });

  test('with 45,000 faulty texts is refused without a conversion of all faults, and without a message of them', async ({
    api,
  }) => {
    const texts = titleOf(30, '');
    const raw = { permissions: Array(500).fill({ name: 'a:b', title: texts, description: texts, group: texts }) };
    const { error } = applyCatalogueInput.safeParse(raw);
    expect(error?.issues).toHaveLength(45_000);
    expect(toValidationEntries(error?.issues ?? [], raw, () => 'body')).toHaveLength(21);
    const ctx = {
      services: api.services,
      authentication: { principal: null, operator: { scopes: ['teams:write'] } },
      blocked: null,
    };
    const call = callOf(operatorRouter.applyPermissions, 'applyPermissions');
    await expect(call(ctx as never, () => Promise.resolve(raw))).rejects.toThrow(/^Invalid input\.$/);
  });

  test('of 500 with texts in seven languages is applied by the API and in the console, and 1 MiB is the most', async ({
    api,
  }) => {
    const { owner, trpc, operator } = await aScene(api);
    await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
    const texts = (text: string) =>
      Object.fromEntries(['en', 'de', 'fr', 'es', 'pt-BR', 'ja', 'ar'].map((language) => [language, text]));
    const manyOf = (area: string) =>
      Array.from({ length: 500 }, (_, i) => ({
        name: `${area}:p${i}`,
        title: texts(`Permission ${i} of the product`),
        description: texts('What a role with this permission can do in the product.'),
        group: texts(area),
      }));
    expect(JSON.stringify(manyOf('many')).length).toBeGreaterThan(300_000);
    expect((await apply(api, manyOf('many'))).body).toMatchObject({ isApplied: true });
    expect(await trpc.operator.applyPermissions.mutate({ permissions: manyOf('more') })).toMatchObject({
      isApplied: true,
    });
    expect((await operator.get(PATH)).body.permissions).toEqual(
      manyOf('more').map((each) => ({ ...each, sensitive: false, roles: [], keys: false, deprecated: false })),
    );
    const longest = 1024 * 1024 - JSON.stringify({ permissions: [], x: '' }).length;
    expect(await apply(api, [], { x: 'x'.repeat(longest) })).toBeProblem('validation_failed');
    expect(await apply(api, [], { x: 'x'.repeat(longest + 1) })).toBeProblem('body_too_large');
    await apply(api, ALL);
  });

  test('needs a decision about what is held, by which roles and keys follow', async ({ api }) => {
    const { teamId, owner, trpc } = await aScene(api);
    const productPermissions = ['invoices:read', 'invoices:write'];
    const role = await trpc.roles.create.mutate({ teamId, name: 'Clerk', permissions: [], productPermissions });
    const { key } = await trpc.apiKeys.create.mutate({
      name: 'k',
      scopes: [],
      permissions: ['invoices:write'],
      teamId,
    });
    const next = [READ, CLOSE, declare('invoices:edit', { sensitive: true, keys: true })];

    const refused = await apply(api, next);
    expect(refused).toBeProblem('permission_held');
    expect(refused.body.detail).toContain('`invoices:write` is held by 1 role, 1 API key.');
    expect(refused.body.errors).toEqual([{ in: 'body', pointer: '/removals/invoices:write', code: 'required' }]);

    const applied = await apply(api, next, { removals: { 'invoices:write': { replaceWith: 'invoices:edit' } } });
    expect(applied.body.removed).toMatchObject([{ name: 'invoices:write', roles: 1, keys: 1 }]);
    const roles = await trpc.roles.list.query({ teamId });
    expect(roles.find(({ roleId }) => roleId === role.roleId)).toMatchObject({
      productPermissions: ['invoices:edit', 'invoices:read'],
      isPrivileged: true,
    });
    const keys = await trpc.apiKeys.list.query({ teamId });
    expect(keys.find(({ id }) => id === key.id)?.permissions).toEqual(['invoices:edit']);

    await apply(api, [READ, CLOSE], { removals: { 'invoices:edit': 'drop' } });
    const [left] = await api.rows('select product_permissions, is_sensitive from role where id = $1', [role.roleId]);
    expect(left).toEqual({ product_permissions: ['invoices:read'], is_sensitive: false });
    expect(owner.id).toBeDefined();
  });

  test('counts all kinds of holders, and each of them follows: by the replacement, or without it', async ({ api }) => {
    const { operator, owner, teamId, trpc } = await aScene(api);
    const held = { permissions: [], productPermissions: ['invoices:write', 'invoices:read'] };
    const { roleId } = await trpc.roles.create.mutate({ teamId, name: 'Clerk', ...held });
    const template = await operator.post('/operator/v1/role-templates', { name: 'Clerk', ...held });
    const permissions = held.productPermissions;
    const { key } = await trpc.apiKeys.create.mutate({ name: 'k', scopes: [], permissions, teamId });
    const revoked = await trpc.apiKeys.create.mutate({ name: 'r', scopes: [], permissions, teamId });
    await trpc.revokeApiKey.mutate({ keyId: revoked.key.id });
    const client = await api.anOAuthClient({ confidential: true });
    await operator.patch(`/operator/v1/clients/${client.id}`, { permissions });
    await someTokens(api, { account: owner, client });
    const waiting = await aCode(api, { account: owner, client });

    const next = [READ, CLOSE, declare('invoices:edit', { keys: true })];
    const holders = { roles: 1, templates: 1, keys: 1, clients: 1, grants: 1 };
    const removals = { 'invoices:write': { replaceWith: 'invoices:edit' } };
    const replaced = await apply(api, next, { removals, dryRun: true });
    expect(replaced.body.removed).toEqual([
      { name: 'invoices:write', ...holders, removal: 'replace', replaceWith: 'invoices:edit' },
    ]);
    const heldNow = () =>
      api.rows<{ names: string[] }>(
        `select product_permissions as names from role where id = $1
         union all select product_permissions from role_template where id = $2
         union all select product_permissions from api_key where id = $3
         union all select product_permissions from oauth_client where id = $4
         union all select product_permissions from oauth_grant where client_id = $4
         union all select product_permissions from oauth_token_family where client_id = $4`,
        [roleId, template.body.id, key.id, client.id],
      );
    const sixWith = (names: string[]) => Array.from({ length: 7 }, () => ({ names }));
    expect(await heldNow()).toEqual(sixWith(['invoices:read', 'invoices:write']));
    await apply(api, next, { removals });
    expect(await heldNow()).toEqual(sixWith(['invoices:edit', 'invoices:read']));
    const dropped = await apply(api, [READ, CLOSE], { removals: { 'invoices:edit': 'drop' } });
    expect(dropped.body.removed).toEqual([{ name: 'invoices:edit', ...holders, removal: 'drop', replaceWith: null }]);
    expect(await heldNow()).toEqual(sixWith(['invoices:read']));
    expect((await exchange(api, waiting)).status).toBe(200);
    expect(await heldNow()).toEqual(sixWith(['invoices:read']));
    await operator.delete(`/operator/v1/role-templates/${template.body.id}`);
  });

  test('takes from keys what they can no longer hold', async ({ api }) => {
    const { teamId, trpc } = await aScene(api);
    const input = { name: 'k', scopes: [], permissions: ['invoices:read', 'invoices:write'], teamId };
    const { key } = await trpc.apiKeys.create.mutate(input);
    await apply(api, [READ, { ...WRITE, keys: false }, CLOSE]);
    const keys = await trpc.apiKeys.list.query({ teamId });
    expect(keys.find(({ id }) => id === key.id)?.permissions).toEqual(['invoices:read']);
  });

  test('is changed by an operator in the console with a recent proof, and previewed without', async ({ api }) => {
    const { owner, trpc } = await aScene(api);
    await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
    await setLastProof(api, 11, owner);
    const input = { permissions: [{ name: 'x:y', title: { en: 'X' } }], removals: {} };
    expect(await outcomeOf(trpc.operator.applyPermissions.mutate({ ...input, dryRun: true }))).toBe('done');
    expect(await outcomeOf(trpc.operator.applyPermissions.mutate(input))).toBe('proof_required');
  });
});

test('the catalogue is listed for frontends in one language, else in English, else in that of the shortest tag', async ({
  api,
}) => {
  const texts = { fr: 'Écrire', en: 'Write', de: 'Schreiben' };
  const permissions = [
    declare('invoices:write', { title: texts, description: texts, group: texts, keys: true }),
    declare('books:close', { title: { 'pt-BR': 'Fechar', ja: '締める' }, sensitive: true, deprecated: true }),
  ];
  const { owner } = await aScene(api);
  await apply(api, permissions, { removals: { 'invoices:read': 'drop' } });
  const { permissions: listed } = await as(api, owner);
  const reordered = permissions.map((each) => ({
    ...each,
    title: Object.fromEntries(Object.entries(each['title'] as object).toReversed()),
  }));
  expect((await apply(api, reordered)).body).toMatchObject({ isApplied: false, changed: [] });
  const titles = async (language?: string) => (await listed.list.query({ language })).map(({ title }) => title);
  expect(await titles('de-CH')).toEqual(['Schreiben', '締める']);
  expect(await titles('FR')).toEqual(['Écrire', '締める']);
  expect(await titles('es')).toEqual(['Write', '締める']);
  expect(await listed.list.query({})).toEqual([
    {
      name: 'invoices:write',
      title: 'Write',
      description: 'Write',
      group: 'Write',
      isSensitive: false,
      isForKeys: true,
      isDeprecated: false,
    },
    {
      name: 'books:close',
      title: '締める',
      description: null,
      group: 'books',
      isSensitive: true,
      isForKeys: false,
      isDeprecated: true,
    },
  ]);
});

describe('roles', () => {
  test('of the system hold what the catalogue says, the owner all', async ({ api }) => {
    const { teamId, trpc } = await aScene(api);
    const roles = await trpc.roles.list.query({ teamId });
    expect(roles.map(({ roleId, productPermissions }) => [roleId, productPermissions])).toEqual([
      ['owner', ['books:close', 'invoices:read', 'invoices:write']],
      ['member', ['invoices:read', 'invoices:write']],
      ['guest', ['invoices:read']],
    ]);
  });

  test('and keys keep what becomes deprecated, and take only permissions that are declared and not deprecated', async ({
    api,
  }) => {
    const { teamId, trpc } = await aScene(api);
    const productPermissions = ['invoices:write'];
    const { roleId } = await trpc.roles.create.mutate({ teamId, name: 'Kept', permissions: [], productPermissions });
    const input = { teamId, name: 'k', scopes: [], permissions: productPermissions };
    const { key } = await trpc.apiKeys.create.mutate(input);
    await apply(api, [READ, { ...WRITE, deprecated: true }, CLOSE]);
    const both = ['invoices:read', 'invoices:write'];
    const kept = await trpc.roles.update.mutate({ teamId, roleId, name: 'Keeps', productPermissions: both });
    expect(kept.productPermissions).toEqual(both);
    await trpc.apiKeys.setPermissions.mutate({ keyId: key.id, permissions: both });
    const lost = await trpc.apiKeys.setPermissions.mutate({ keyId: key.id, permissions: ['invoices:read'] });
    expect(lost.permissions).toEqual(['invoices:read']);
    for (const again of [
      trpc.apiKeys.setPermissions.mutate({ keyId: key.id, permissions: both }),
      trpc.apiKeys.create.mutate(input),
    ])
      expect(await problemOf(again)).toMatchObject({ code: 'validation_failed' });
    for (const name of ['invoices:write', 'unknown:one']) {
      const call = trpc.roles.create.mutate({
        teamId,
        name: 'R',
        permissions: [],
        productPermissions: ['invoices:read', name],
      });
      expect(await problemOf(call)).toMatchObject({ errors: [{ pointer: '/productPermissions/1' }] });
    }
  });

  test('are given by nobody who does not hold them: created, set, invited to, or given back', async ({ api }) => {
    const { team, teamId, trpc } = await aScene(api);
    const [editor, member] = [await api.anAccount(), await api.anAccount()];
    const permissions = ['edit_team_settings', 'access_dashboard', 'invite_members', 'remove_members'] as const;
    const own = await trpc.roles.create.mutate({ teamId, name: 'Editor', permissions: [...permissions] });
    const strong = await trpc.roles.create.mutate({
      teamId,
      name: 'Closer',
      permissions: [],
      productPermissions: ['books:close'],
    });
    await api.aMember(team, editor, { role: own.roleId });
    await api.aMember(team, member, { role: strong.roleId, active: false });
    const theirs = await as(api, editor);
    const subject = { teamId, userId: member.id };
    const role = { teamId, roleId: strong.roleId };

    expect(
      await outcomeOf(
        theirs.roles.create.mutate({ teamId, name: 'N', permissions: [], productPermissions: ['invoices:read'] }),
      ),
    ).toBe('role_not_assignable');
    expect(await outcomeOf(theirs.roles.update.mutate({ ...role, name: 'Other' }))).toBe('role_not_assignable');
    expect(await outcomeOf(theirs.members.setRole.mutate({ ...subject, roleId: strong.roleId }))).toBe(
      'permission_missing',
    );
    expect(await outcomeOf(theirs.members.activate.mutate(subject))).toBe('role_not_assignable');
    const invitation = { teamId, email: 'new@example.com', roleId: strong.roleId, isSystemRole: false };
    expect(await outcomeOf(theirs.invitations.create.mutate(invitation))).toBe('role_not_assignable');
    const listed = await theirs.listTeamRoles.query({ teamId });
    expect(listed.filter(({ isAssignable }) => isAssignable).map(({ roleId }) => roleId)).toEqual([own.roleId]);
  });

  test('with a sensitive permission are privileged: they need a proof, and invitations end with their sender', async ({
    api,
  }) => {
    const { team, teamId, owner, trpc } = await aScene(api);
    const plain = { teamId, name: 'Plain', permissions: [], productPermissions: ['invoices:read'] };
    const close = { productPermissions: ['books:close'] };
    const { roleId } = await trpc.roles.create.mutate({ teamId, name: 'Closer', permissions: [], ...close });
    await setLastProof(api, 11, owner);
    expect(await outcomeOf(trpc.roles.create.mutate(plain))).toBe('done');
    expect(await outcomeOf(trpc.roles.create.mutate({ ...plain, name: 'C', ...close }))).toBe('proof_required');
    const invitation = { teamId, email: 'c@example.com', roleId, isSystemRole: false };
    expect(await outcomeOf(trpc.invitations.create.mutate(invitation))).toBe('proof_required');

    await setLastProof(api, 1, owner);
    const sender = await api.anAccount();
    const senders = await trpc.roles.create.mutate({
      teamId,
      name: 'S',
      permissions: ['invite_members', 'access_dashboard'],
      ...close,
    });
    await api.aMember(team, sender, { role: senders.roleId });
    await (await as(api, sender)).invitations.create.mutate(invitation);
    await trpc.roles.update.mutate({ teamId, roleId: senders.roleId, productPermissions: [] });
    expect(await trpc.listTeamInvitations.query({ teamId })).toEqual([]);
  });

  test('come as templates for new teams, also with what is sensitive', async ({ api }) => {
    const { operator, owner } = await aScene(api);
    const created = await operator.post('/operator/v1/role-templates', {
      name: 'Accounting',
      permissions: [],
      productPermissions: ['books:close'],
    });
    expect(created.body.productPermissions).toEqual(['books:close']);
    const team = await operator.post('/operator/v1/teams', { name: 'New', ownerId: owner.id });
    const { roles } = (await operator.get(`/operator/v1/teams/${team.body.id}/roles`)).body as {
      roles: { name: string }[];
    };
    expect(roles.find(({ name }) => name === 'Accounting')).toMatchObject({ productPermissions: ['books:close'] });
    const rows = await api.rows(`select is_sensitive from role where team_id = $1`, [team.body.id]);
    expect(rows).toEqual([{ is_sensitive: true }]);
    await operator.delete(`/operator/v1/role-templates/${created.body.id}`);
  });

  test('come from templates without what is deprecated, which the template keeps', async ({ api }) => {
    const { operator, owner } = await aScene(api);
    const productPermissions = ['books:close', 'invoices:write'];
    const template = { name: 'Accounting', permissions: [], productPermissions };
    const { id } = (await operator.post('/operator/v1/role-templates', template)).body;
    await apply(api, [READ, WRITE, { ...CLOSE, deprecated: true }]);
    const team = await operator.post('/operator/v1/teams', { name: 'New', ownerId: owner.id });
    expect(
      await api.rows('select product_permissions as names, is_sensitive from role where team_id = $1', [team.body.id]),
    ).toEqual([{ names: ['invoices:write'], is_sensitive: false }]);
    const path = `/operator/v1/role-templates/${id}`;
    expect((await operator.get(path)).body.productPermissions).toEqual(productPermissions);
    await operator.delete(path);
  });
});

describe('verify', () => {
  test('answers what the role holds within what the credential is limited to, at each call', async ({ api }) => {
    const { team, teamId, trpc, verify, operator } = await aScene(api);
    const member = await api.anAccount();
    await api.aMember(team, member, { role: 'member' });
    const theirs = await as(api, member);
    const none = await api.anApiKey(member, { scopes: ['teams:read'] });
    const some = await theirs.apiKeys.create.mutate({ name: 'k', scopes: [], permissions: ['invoices:write'] });

    expect((await verify(none)).permissions).toEqual(['access_dashboard']);
    // A credential without scopes has none of the six.
    expect(await verify(some)).toMatchObject({ valid: true, permissions: ['invoices:write'] });
    expect(await verify(some, { permission: 'invoices:write' })).toMatchObject({ valid: true, missing: [] });
    expect(await verify(some, { permissions: ['access_dashboard', 'invoices:read', 'books:close'] })).toMatchObject({
      valid: false,
      code: 'permission_missing',
      missing: ['access_dashboard', 'invoices:read', 'books:close'],
    });
    await operator.patch(`/operator/v1/teams/${teamId}/members/${member.id}`, { roleId: 'guest' });
    expect((await verify(some)).permissions).toEqual([]);

    const own = { permissions: [], productPermissions: ['books:close', 'invoices:write'] };
    const { roleId } = await trpc.roles.create.mutate({ teamId, name: 'Own', ...own });
    await operator.patch(`/operator/v1/teams/${teamId}/members/${member.id}`, { roleId });
    const scene = { ...(await aFirstParty(api)), account: member, visitor: await signedIn(api, member) };
    const app = { secret: (await firstPartyTokens(api, scene, { team: teamId })).access };
    expect((await verify(some)).permissions).toEqual(['invoices:write']);
    expect((await verify(app)).permissions).toEqual(['books:close', 'invoices:write']);
    await trpc.roles.update.mutate({ teamId, roleId, productPermissions: ['books:close'] });
    expect((await verify(some)).permissions).toEqual([]);
    expect((await verify(app)).permissions).toEqual(['books:close']);
    await operator.patch(`/operator/v1/teams/${teamId}/members/${member.id}`, { roleId: 'member' });
    expect((await verify(app)).permissions).toEqual(['access_dashboard', 'invoices:read', 'invoices:write']);
    await apply(api, [READ, { ...WRITE, roles: [] }, CLOSE]);
    expect((await verify(some)).permissions).toEqual([]);
    expect((await verify(app)).permissions).toEqual(['access_dashboard', 'invoices:read']);
    expect((await trpc.teams.permissions.query({ teamId })).slice(6)).toEqual([
      'books:close',
      'invoices:read',
      'invoices:write',
    ]);
  });

  test('answers what a key of the owner is limited to, also after a change of the catalogue', async ({ api }) => {
    const { owner, teamId, trpc, verify } = await aScene(api);
    const ownPermissions = (await trpc.teams.permissions.query({ teamId })).slice(0, 6);
    const create = (permissions: string[]) =>
      trpc.apiKeys.create.mutate({ name: 'k', scopes: ['teams:read'], permissions });
    const [none, one, all] = [
      await create([]),
      await create(['invoices:write']),
      await create([READ.name, WRITE.name]),
    ];
    const expectLimits = async (limits: readonly string[][]) => {
      for (const [index, key] of [none, one, all].entries())
        expect((await verify(key)).permissions).toEqual([...ownPermissions, ...(limits[index] ?? [])]);
    };
    await expectLimits([[], ['invoices:write'], ['invoices:read', 'invoices:write']]);
    await apply(api, [{ ...READ, keys: false }, WRITE, CLOSE]);
    await expectLimits([[], ['invoices:write'], ['invoices:write']]);
    await apply(api, [READ, CLOSE], { removals: { 'invoices:write': 'drop' } });
    await expectLimits([[], [], []]);
    const session = await as(api, owner);
    expect((await session.teams.permissions.query({ teamId })).slice(6)).toEqual(['books:close', 'invoices:read']);
  });
});

describe('API keys', () => {
  test('hold only what is declared for keys and held by their creator', async ({ api }) => {
    const { team, teamId, trpc } = await aScene(api);
    const input = { name: 'k', scopes: [], teamId };
    expect(await problemOf(trpc.apiKeys.create.mutate({ ...input, permissions: ['books:close'] }))).toMatchObject({
      errors: [{ pointer: '/permissions/0' }],
    });
    expect(await outcomeOf(trpc.apiKeys.create.mutate({ ...input, permissions: [] }))).toBe('validation_failed');
    const manager = await api.anAccount();
    const role = await trpc.roles.create.mutate({
      teamId,
      name: 'Keys',
      permissions: ['manage_api_keys'],
      productPermissions: ['invoices:read'],
    });
    await api.aMember(team, manager, { role: role.roleId });
    const theirs = await as(api, manager);
    expect(await outcomeOf(theirs.apiKeys.create.mutate({ ...input, permissions: ['invoices:write'] }))).toBe(
      'permission_not_allowed',
    );
    expect(await outcomeOf(theirs.apiKeys.create.mutate({ ...input, permissions: ['invoices:read'] }))).toBe('done');
  });

  test('make keys with at most their own, and by the API without any', async ({ api }) => {
    const { trpc } = await aScene(api);
    const scopes = ['api-keys:write' as const];
    const { secret, key } = await trpc.apiKeys.create.mutate({ name: 'k', scopes, permissions: ['invoices:read'] });
    const caller = withKey(api, { secret });
    const input = { name: 'child', scopes, permissions: ['invoices:read'] };
    expect((await caller.apiKeys.create.mutate(input)).key.permissions).toEqual(['invoices:read']);
    const wider = { ...input, permissions: ['invoices:write'] };
    expect(await outcomeOf(caller.apiKeys.create.mutate(wider))).toBe('permission_not_allowed');
    expect(
      await outcomeOf(caller.apiKeys.setPermissions.mutate({ keyId: key.id, permissions: wider.permissions })),
    ).toBe('permission_not_allowed');
    const child = await api.as({ secret }).post('/api/v1/api-keys', { ...wider, permissions: ['invoices:read'] });
    const [row] = await api.rows('select product_permissions from api_key where id = $1', [child.body.key.id]);
    expect(row).toEqual({ product_permissions: [] });
  });

  test('keep them when updateApiKey sets scopes, and get more only with a proof', async ({ api }) => {
    const { owner, trpc } = await aScene(api);
    const { key } = await trpc.apiKeys.create.mutate({
      name: 'k',
      scopes: ['teams:read'],
      permissions: ['invoices:read'],
    });
    await trpc.updateApiKey.mutate({ keyId: key.id, scopes: ['teams:read', 'profile:read'] });
    const [kept] = await api.rows('select product_permissions from api_key where id = $1', [key.id]);
    expect(kept).toEqual({ product_permissions: ['invoices:read'] });
    await setLastProof(api, 11, owner);
    const set = (permissions: string[]) =>
      outcomeOf(trpc.apiKeys.setPermissions.mutate({ keyId: key.id, permissions }));
    expect(await set(['invoices:read', 'invoices:write'])).toBe('proof_required');
    expect(await set([])).toBe('done');
  });
});

describe('applications of others', () => {
  test('show the user what their client asks for of the product, and have it until the client loses it', async ({
    api,
  }) => {
    const { operator, owner, verify } = await aScene(api);
    const client = await api.anOAuthClient({ confidential: true });
    const ask = (permissions: string[]) => operator.patch(`/operator/v1/clients/${client.id}`, { permissions });
    await ask(['invoices:read', 'invoices:write']);
    const visitor = await signedIn(api, owner);
    const scopes = ['api-keys:write' as const];
    const person = { account: owner, client, visitor, scopes };
    const id = await askConsent(api, visitor, goodRequest(client, aProofKey().challenge, scopes));
    expect((await visitor.trpc.authorizations.read.query({ id })).permissions).toEqual([
      { name: 'invoices:read', title: { en: 'invoices:read' }, description: null },
      { name: 'invoices:write', title: { en: 'invoices:write' }, description: null },
    ]);

    const token = { secret: (await someTokens(api, person)).tokens.access };
    const { apiKeys } = withKey(api, token);
    const both = ['invoices:read', 'invoices:write'];
    const key = await apiKeys.create.mutate({ name: 'k', scopes: [], permissions: both });
    const held = async (credential: { secret: string }) =>
      (await verify(credential)).permissions.filter((name: string) => name.includes(':'));
    const heldByBoth = async () => [await held(token), await held(key)];
    expect(await heldByBoth()).toEqual([both, both]);

    await ask(['invoices:read']);
    expect(await heldByBoth()).toEqual([['invoices:read'], ['invoices:read']]);
    await ask(both);
    expect(await heldByBoth()).toEqual([['invoices:read'], ['invoices:read']]);
    const more = { name: 'm', scopes: [], permissions: ['invoices:write'] };
    expect(await outcomeOf(apiKeys.create.mutate(more))).toBe('permission_not_allowed');
    await someTokens(api, person);
    expect(await heldByBoth()).toEqual([both, ['invoices:read']]);
  });
});

describe('events', () => {
  const eventsOf = async (api: Api, operator: Awaited<ReturnType<typeof operatorOf>>, teamId: string) => {
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    while ((await numberEvents(api.services, log)).outcome === 'more');
    const types = 'role.created,role.updated,api_key.created,api_key.updated';
    return (await operator.get(`/operator/v1/events?limit=100&types=${types}&teamId=${teamId}`)).body.events;
  };

  test('of roles and keys have what they hold of the product, and before a change of it', async ({ api }) => {
    const { owner, teamId, operator, trpc } = await aScene(api);
    const { roleId } = await trpc.roles.create.mutate({
      teamId,
      name: 'Clerk',
      permissions: [],
      productPermissions: [],
    });
    await trpc.roles.update.mutate({ teamId, roleId, productPermissions: ['invoices:write', 'invoices:read'] });
    await trpc.roles.update.mutate({
      teamId,
      roleId,
      name: 'Clerks',
      productPermissions: ['invoices:read', 'invoices:write'],
    });
    await trpc.roles.update.mutate({ teamId, roleId, productPermissions: ['invoices:read'] });
    const input = { teamId, name: 'k', scopes: [], permissions: ['invoices:read'] };
    const { key } = await trpc.apiKeys.create.mutate(input);
    await trpc.apiKeys.setPermissions.mutate({ keyId: key.id, permissions: ['invoices:write'] });
    await trpc.apiKeys.rename.mutate({ keyId: key.id, name: 'l' });

    const both = ['invoices:read', 'invoices:write'];
    const read = ['invoices:read'];
    const write = ['invoices:write'];
    const seen = (await eventsOf(api, operator, teamId)).map(({ type, details }: Event) => [
      type,
      details['productPermissionsBefore'],
      details['productPermissions'],
    ]);
    expect(seen).toEqual([
      ['role.created', undefined, undefined],
      ['role.updated', [], both],
      ['role.updated', undefined, undefined],
      ['role.updated', both, read],
      ['api_key.created', undefined, read],
      ['api_key.updated', read, write],
      ['api_key.updated', undefined, undefined],
    ]);
    const data = (await eventsOf(api, operator, teamId)).map(
      ({ data: { role, apiKey } }: Event) => role?.productPermissions ?? apiKey?.permissions,
    );
    // Events show the resource as it is when they are numbered.
    expect(data).toEqual([read, read, read, read, write, write, write]);
    expect(owner.id).toBeDefined();
  });

  test('of a role with more than they can keep leave out the longest lists alone', async ({ api }) => {
    const { teamId, operator, trpc } = await aScene(api);
    const many = Array.from({ length: 200 }, (_, i) => declare(`area:permission-${String(i).padStart(3, '0')}`));
    await apply(api, [...ALL, ...many]);
    const names = many.map(({ name }) => name);
    const role = { teamId, name: 'All', permissions: ['access_billing' as const] };
    const { roleId } = await trpc.roles.create.mutate({ ...role, productPermissions: names });
    await trpc.roles.update.mutate({ teamId, roleId, productPermissions: names.slice(0, 10) });
    const events = await eventsOf(api, operator, teamId);
    expect(events.map(({ details }: Event) => details)).toEqual([
      { name: 'All', permissions: ['access_billing'], leftOut: ['productPermissions'] },
      { name: 'All', productPermissions: names.slice(0, 10), leftOut: ['productPermissionsBefore'] },
    ]);
  });
});

describe('API keys over the operator API', () => {
  const KEYS = '/operator/v1/api-keys';

  test('are created, read, changed and revoked, with what the catalogue lets keys hold', async ({ api }) => {
    const { owner, teamId, operator, verify } = await aScene(api);
    await api.rows('update team set external_id = $2 where id = $1', [teamId, `own-${teamId}`]);
    const input = { accountId: owner.id, teamId: `ext:own-${teamId}`, name: 'Export', scopes: [] };
    const created = await operator.post(KEYS, { ...input, permissions: ['invoices:write', 'invoices:read'] });
    const { key, secret } = created.body;
    expect([created.status, key]).toEqual([
      201,
      {
        id: expect.stringMatching(/^key_/),
        name: 'Export',
        keyPrefix: secret.slice(0, 13),
        last4: secret.slice(-4),
        accountId: owner.id,
        teamId,
        scopes: [],
        permissions: ['invoices:read', 'invoices:write'],
        createdAt: expect.any(String),
        lastUsedAt: null,
        expiresAt: null,
      },
    ]);
    expect((await verify({ secret })).permissions).toContain('invoices:write');

    const path = `${KEYS}/${key.id}`;
    const changed = await operator.patch(path, { permissions: ['invoices:read'] });
    expect([changed.status, changed.body]).toEqual([200, { ...key, permissions: ['invoices:read'] }]);
    expect((await verify({ secret })).permissions).not.toContain('invoices:write');
    for (const list of [`/operator/v1/accounts/${owner.id}/api-keys`, `/operator/v1/teams/${teamId}/api-keys`])
      expect((await operator.get(list)).body).toMatchObject({
        keys: [{ id: key.id, accountId: owner.id, teamId, permissions: ['invoices:read'] }],
        nextCursor: null,
      });
    expect((await operator.get(path)).body).toMatchObject({ id: key.id, permissions: ['invoices:read'] });
    expect(
      await api.rows<{ event: string }>(`select event, actor_kind from audit_event where target_id = $1 order by id`, [
        key.id,
      ]),
    ).toEqual(['api_key.created', 'api_key.updated'].map((event) => ({ event, actor_kind: 'operator_key' })));

    expect((await operator.delete(path)).body).toEqual({ success: true });
    expect((await verify({ secret })).valid).toBe(false);
    for (const answer of [
      await operator.get(path),
      await operator.delete(path),
      await operator.patch(path, { permissions: [] }),
    ])
      expect(answer).toBeProblem('api_key_not_found');
  });

  test('hold nothing that is not declared for keys, nothing at all, or what no team key holds', async ({ api }) => {
    const { owner, teamId, operator } = await aScene(api);
    const create = (more: object) => operator.post(KEYS, { accountId: owner.id, name: 'k', scopes: [], ...more });
    for (const name of ['books:close', 'unknown:one']) {
      const refused = await create({ permissions: ['invoices:read', name] });
      expect(refused.body.errors).toEqual([{ in: 'body', pointer: '/permissions/1', code: 'invalid_value' }]);
    }
    expect((await create({})).body.errors).toMatchObject([{ pointer: '/scopes', code: 'min_length' }]);
    expect(await create({ teamId, scopes: ['profile:read'] })).toBeProblem('scope_account_only');
    const stranger = await api.anAccount();
    expect(await create({ accountId: stranger.id, teamId, scopes: ['teams:read'] })).toBeProblem('team_not_found');
    expect(await create({ accountId: 'unknown', scopes: ['teams:read'] })).toBeProblem('account_not_found');
    const { key } = (await create({ permissions: ['invoices:read'] })).body;
    const widened = await operator.patch(`${KEYS}/${key.id}`, { permissions: ['invoices:read', 'books:close'] });
    expect(widened.body.errors).toMatchObject([{ pointer: '/permissions/1' }]);
  });

  test('are not for accounts that are disabled, unverified or of operators', async ({ api }) => {
    const { operator } = await aScene(api);
    const outcomeFor = async (change: string) => {
      const { id } = await api.anAccount();
      const { id: keyId } = await api.anApiKey({ id });
      await api.rows(`update account set ${change} where id = $1`, [id]);
      const created = await operator.post(KEYS, { accountId: id, name: 'k', scopes: ['teams:read'] });
      const changed = await operator.patch(`${KEYS}/${keyId}`, { permissions: ['invoices:read'] });
      return [created.body.code, changed.body.code];
    };
    expect(await outcomeFor('disabled_at = now()')).toEqual(['validation_failed', undefined]);
    expect(await outcomeFor('email_verified_at = null')).toEqual(['email_not_verified', undefined]);
    expect(await outcomeFor(`role = 'admin'`)).toEqual(['session_required', 'session_required']);
  });
});

test('none of the 20 operations shows a permission of the product, whatever the role holds', async ({ api }) => {
  const { owner, team, teamId, trpc } = await aScene(api);
  await trpc.roles.create.mutate({ teamId, name: 'Clerk', permissions: [], productPermissions: ['invoices:write'] });
  await trpc.apiKeys.create.mutate({ name: 'k', scopes: [], permissions: ['invoices:read'], teamId });
  await trpc.invitations.create.mutate({ teamId, email: 'i@example.com', roleId: 'member', isSystemRole: true });
  const caller = api.as(await api.anApiKey(owner, { scopes: SCOPES }));
  expect(OPERATIONS).toHaveLength(20);
  for (const { path, method } of OPERATIONS.filter((each) => each.method === 'GET')) {
    const { text, status } = await caller.send({ method, path: path.replace('{teamId}', teamId) });
    expect([path, status, /invoices:|books:|productPermissions|isPrivileged/.test(text)]).toEqual([path, 200, false]);
  }
  const document = await api.anonymous.get('/api/v1/openapi.json');
  expect(document.text).not.toMatch(/productPermissions|ProductPermission/);
  const created = await caller.post('/api/v1/api-keys', {
    name: 'k',
    scopes: ['teams:read'],
    permissions: ['invoices:read'],
  });
  expect(JSON.stringify(created.body)).not.toContain('invoices:read');
  expect(team.id).toBe(teamId);
});
