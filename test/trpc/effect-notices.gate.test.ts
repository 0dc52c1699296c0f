import { describe, expect, onTestFinished, test } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { NOTICE_PAGES, type NoticeKind } from '../../src/email/notices.ts';
import type { Meta } from '../../src/procedures/meta.ts';
import { appRouter } from '../../src/router.ts';
import { aScene, MUTATIONS, type Prepared, type Scene } from '../events/mutations.ts';
import { startApi, type Api } from '../support/api.ts';
import { readConsoleRoutes } from '../support/console-routes.ts';
import { CASES } from './conditional-effects.ts';
import { outcomeOf } from './console.ts';
import { WITHOUT_NOTICE } from './exempt-mutations.ts';
import { allMailed, anAddress } from './people.ts';
import { aPermission } from './product-permissions.ts';

type Procedure = { readonly _def: { readonly type: 'query' | 'mutation'; readonly meta?: Meta } };
type Prepare = (scene: Scene) => Promise<Prepared> | Prepared;

const EFFECTS = (Object.entries(appRouter._def.procedures) as unknown as [string, Procedure][]) // flat by path
  .map(([name, { _def }]) => ({ name, effect: _def.meta?.effect, access: _def.meta?.access, type: _def.type }))
  .filter(({ type, effect }) => type === 'mutation' && effect !== 'none');
const NAMES = new Set(EFFECTS.map(({ name }) => name));

/** The operations of operator keys that run the functions of procedures of the console. */
const OF_WEBHOOKS: Readonly<Record<string, string>> = {
  createWebhookEndpoint: 'webhooks.create',
  updateWebhookEndpoint: 'webhooks.update',
  rotateWebhookSecret: 'webhooks.rotateSecret',
};
const twinOf = (operation: string) => OF_WEBHOOKS[operation] ?? `operator.${operation}`;

/** The procedures that declare an effect, each function once. */
const WITH_EFFECT = EFFECTS.filter(
  ({ name, access }) => !access?.isOperatorApi || !NAMES.has(twinOf(name.slice('operatorApi.'.length))),
).map(({ name }) => name);

const asOperator = ({ api, owner }: Scene) => api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);

const aPrivilegedRole = ({ api, team }: Scene) => api.aRole(team, ['invite_members']);

/** Procedures that have an effect on an account in some cases only. */
const SPECIAL: Readonly<Record<string, Prepare>> = {
  'operator.updateAccount': async (scene) => {
    await asOperator(scene);
    return {
      call: (trpc) => trpc.operator.updateAccount.mutate({ accountId: scene.member.id, email: anAddress() }),
    };
  },
  'operator.enableAccount': async (scene) => {
    await asOperator(scene);
    await scene.api.rows('update account set disabled_at = now() where id = $1', [scene.member.id]);
    return { call: (trpc) => trpc.operator.enableAccount.mutate({ accountId: scene.member.id }) };
  },
  'operator.addMember': async (scene) => {
    await asOperator(scene);
    const [{ id: accountId }, { id: roleId }] = [await scene.api.anAccount(), await aPrivilegedRole(scene)];
    return { call: (trpc) => trpc.operator.addMember.mutate({ teamId: scene.team.id, accountId, roleId }) };
  },
  'operator.createRole': async (scene) => {
    await asOperator(scene);
    const input = { teamId: scene.team.id, name: 'Helper', permissions: ['invite_members' as const] };
    return { call: (trpc) => trpc.operator.createRole.mutate(input) };
  },
  'operator.updateRole': async (scene) => {
    await asOperator(scene);
    const { id: roleId } = await scene.api.aRole(scene.team, []);
    const input = { teamId: scene.team.id, roleId, permissions: ['invite_members' as const] };
    return { call: (trpc) => trpc.operator.updateRole.mutate(input) };
  },
  'operator.deleteRole': async (scene) => {
    await asOperator(scene);
    const [{ id: roleId }, { id: replacementRoleId }] = [
      await scene.api.aRole(scene.team, []),
      await aPrivilegedRole(scene),
    ];
    await scene.api.aMember(scene.team, await scene.api.anAccount(), { role: roleId });
    const input = { teamId: scene.team.id, roleId, replacementRoleId };
    return { call: (trpc) => trpc.operator.deleteRole.mutate(input) };
  },
  'operator.updateMember': async (scene) => {
    await asOperator(scene);
    const { id: roleId } = await aPrivilegedRole(scene);
    const input = { teamId: scene.team.id, accountId: scene.member.id, roleId };
    return { call: (trpc) => trpc.operator.updateMember.mutate(input) };
  },
  'operator.updateClient': async (scene) => {
    await asOperator(scene);
    const { operator } = scene.owner.visitor.trpc;
    const uri = 'https://app.example/callback';
    const { client } = await operator.createClient.mutate({
      name: 'App',
      redirectUris: [uri],
      isConfidential: true,
      scopes: ['teams:read'],
    });
    const input = { clientId: client.id, redirectUris: [uri, 'https://other.example/callback'] };
    return { call: (trpc) => trpc.operator.updateClient.mutate(input) };
  },
  'operatorApi.createApiKey': (scene) => ({
    call: () =>
      callOperator(scene, 'POST', '/operator/v1/api-keys', {
        accountId: scene.owner.id,
        name: 'Mine',
        scopes: ['teams:read'],
      }),
  }),
  'operatorApi.updateApiKey': async (scene) => {
    const { id } = await scene.api.anApiKey(scene.owner);
    const permissions = [await aPermission(scene.api)];
    return { call: () => callOperator(scene, 'PATCH', `/operator/v1/api-keys/${id}`, { permissions }) };
  },
  'operatorApi.createImport': async (scene) => {
    const { api, owner, team } = scene;
    const account = await api.anAccount();
    const { id: roleId } = await aPrivilegedRole(scene);
    await api.rows('update account set external_id = id where id = any($1)', [[owner.id, account.id]]);
    await api.rows('update team set external_id = id where id = $1', [team.id]);
    const [role] = await api.rows<{ name: string }>('select name from role where id = $1', [roleId]);
    return {
      call: () =>
        importRows(api, [
          { type: 'membership', team: team.id, account: account.id, role: role?.name },
          anImportedKey(api, owner),
        ]),
    };
  },
};

/** Calls the operator API as the operator's backend. */
async function callOperator({ api }: Scene, method: string, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await api.as(await api.anOperatorKey()).send({ method, path, headers, body: JSON.stringify(body) });
  expect(answer.status).toBeLessThan(300);
}

/** A key of an account in a file to import. */
function anImportedKey({ services }: Api, { id }: { readonly id: string }) {
  const { keyPrefix, last4, hash } = services.tokens.generate('personalKey');
  return {
    type: 'apiKey',
    account: id,
    name: 'Mine',
    scopes: ['teams:read'],
    secretHash: hash.toString('hex'),
    keyPrefix,
    last4,
  };
}

/** Uploads rows as the operator's backend, without events of what is new, and waits until they are imported. */
async function importRows(api: Api, rows: readonly object[]): Promise<void> {
  const backend = api.as(await api.anOperatorKey({ scopes: ['accounts:write', 'teams:write', 'billing:write'] }));
  const { body } = await backend.send({
    method: 'POST',
    path: '/operator/v1/imports?silent=true',
    headers: { 'content-type': 'application/x-ndjson' },
    body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  });
  const report = async () => (await backend.get(`/operator/v1/imports/${body.id}`)).body;
  await expect.poll(async () => (await report()).finishedAt, { interval: 50 }).not.toBeNull();
  expect((await report()).imported).toMatchObject({ memberships: 1, apiKeys: 1 });
}

const PREPARED = new Map<string, Prepare>(MUTATIONS.map(([name, , prepare]) => [name, prepare]));

/** What an API key can call too. */
const OF_KEYS = new Set(
  EFFECTS.filter(({ access }) => access && !access.sessionOnly && !access.isOperatorApi).map(({ name }) => name),
);

const ROWS = WITH_EFFECT.filter((name) => WITHOUT_NOTICE[name] === undefined).flatMap((name) =>
  (OF_KEYS.has(name) ? (['a session', 'an API key'] as const) : (['a session'] as const)).map((by) => ({
    name,
    by,
    prepare: SPECIAL[name] ?? CASES[name]?.widening[0] ?? PREPARED.get(name),
  })),
);

/** How many notices they are, if not one: of the privileged role to the owner of the team, and of the key. */
const TOLD: Readonly<Record<string, number>> = { 'operatorApi.createImport': 2 };

const SETTINGS = { TRUST_PROXY: '1', CITY_HEADER: 'x-city', COUNTRY_HEADER: 'x-country', WEBHOOK_PRIVATE_NETWORKS: '' };
const CHROME =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

/** The addresses of those who are told, as they were before the call. */
const addressesOf = async (api: Api, { owner, member }: Scene) =>
  (await api.rows<{ email: string }>('select email from account where id = any($1)', [[owner.id, member.id]])).map(
    ({ email }) => email.toLowerCase(),
  );

const TITLES = async () => {
  const { default: texts } = await import('../../src/messages/email.en.json', { with: { type: 'json' } });
  const titles = texts as Readonly<Record<string, string>>;
  return new Map((Object.keys(NOTICE_PAGES) as NoticeKind[]).map((kind) => [titles[`${kind}.title`] ?? '', kind]));
};

const BASE_URL = 'http://localhost:3000';

/** The paths of the console, with names such as `$teamId` for what differs. */
const PAGES = readConsoleRoutes();

/** Matches the path of the page that a link leads to. */
const toPattern = (link: string): RegExp =>
  new RegExp(`^${new URL(link).pathname.replace(/^\/teams\/[^/]+/, '/teams/\\$teamId')}$`);

test('every procedure with an effect is prepared', () => {
  expect(OF_KEYS.size).toBeGreaterThan(10);
  expect(WITH_EFFECT.filter((name) => name.startsWith('operatorApi.'))).toEqual([
    'operatorApi.createApiKey',
    'operatorApi.updateApiKey',
    'operatorApi.createImport',
  ]);
  expect(ROWS.length).toBeGreaterThan(35);
  expect(ROWS.filter(({ prepare }) => prepare === undefined).map(({ name }) => name)).toEqual([]);
});

// Guarantees that no lasting access begins and no protection ends in silence.
describe('whoever is affected is told by email, with the thing, time, browser, place and page', () => {
  let shared: Promise<Api> | undefined;
  let running = 0;
  const open = async (): Promise<Api> => {
    running += 1;
    onTestFinished(async () => {
      running -= 1;
      if (running === 0) {
        await (await shared)?.close();
        shared = undefined;
      }
    });
    return (shared ??= startApi(SETTINGS));
  };

  test.for(ROWS)('of $name by $by', async ({ name, by, prepare }) => {
    const api = await open();
    const scene = await aScene(api);
    const { visitor = scene.owner.visitor, call } = await (prepare as Prepare)(scene);
    Object.assign(visitor.headers, { 'user-agent': CHROME, 'x-city': 'Berlin', 'x-country': 'DE' });
    if (by === 'an API key') {
      const { id, secret } = await api.anApiKey(scene.owner, { scopes: SCOPES });
      // It hands on what it holds of the product.
      const declared = 'array(select name from declared_permission)';
      await api.rows(`update api_key set product_permissions = ${declared} where id = $1`, [id]);
      visitor.headers['authorization'] = `Bearer ${secret}`;
      visitor.cookies.clear();
    }
    const told = await addressesOf(api, scene);
    await allMailed(api);
    // What was prepared is told, too.
    await api.rows(`update sent_mail set created_at = now() - interval '11 minutes' where id like 'notice%'`);
    const before = api.mails.length;

    expect(await outcomeOf(call(visitor.trpc))).toBe('done');
    await allMailed(api);

    const titles = await TITLES();
    const notices = api.mails
      .slice(before)
      .filter(({ to, subject }) => told.includes(to.toLowerCase()) && titles.has(subject));
    expect(notices.length, JSON.stringify(api.mails.slice(before))).toBeGreaterThanOrEqual(TOLD[name] ?? 1);
    for (const { subject, text } of notices) {
      const kind = titles.get(subject) as NoticeKind;
      expect(text).toMatch(/Time: \d+ \w+ \d{4} at \d\d:\d\d UTC/);
      const isByOperator = text.includes('operator of this service');
      if (!isByOperator) {
        expect(text).toContain('Browser: “Chrome”, system: “macOS”');
        expect(text).toContain('Location: “Berlin, Germany”');
      }
      if (by === 'an API key') expect(text).toContain('Done with the API key “A key”');
      if (!ABOUT_ACCOUNT.has(kind)) expect(text).toMatch(/“[^”]+”/);
      const page = NOTICE_PAGES[kind];
      const links = text.split('\n').filter((line) => line.startsWith(BASE_URL));
      const pages = page === null ? [] : [page(scene.team.id), page(null)].map((path) => BASE_URL + path);
      expect(links).toEqual(page === null ? [] : [expect.stringMatching(/./)]);
      for (const link of links) {
        expect(pages).toContain(link);
        expect(PAGES).toContainEqual(expect.stringMatching(toPattern(link)));
      }
    }
  });
});

/** These are about the account itself, which is the reader's. */
const ABOUT_ACCOUNT: ReadonlySet<NoticeKind> = new Set([
  'password_changed',
  'password_reset',
  'access_revoked',
  'account_enabled',
  'account_deleted',
]);
