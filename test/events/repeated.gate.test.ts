import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { recordedBy } from './events.ts';
import { aScene, MUTATIONS, OF_OPERATOR_KEYS } from './mutations.ts';

/** Why a mutation has an effect, and an event, each time it is called. All others only have one if something changes. */
const EFFECTS: Readonly<Record<string, string>> = {
  createTeam: 'creates a team',
  createTeamInvitation: 'creates an invitation, or renews it and sends its email',
  'invitations.create': 'creates an invitation, or renews it and sends its email',
  'invitations.resend': 'renews the invitation and sends its email',
  createApiKey: 'creates a key',
  'apiKeys.create': 'creates a key',
  'apiKeys.rotate': 'creates a secret',
  'auth.signUp': 'begins a sign-up of its own',
  'auth.signIn': 'begins a session',
  'account.prove': 'renews the proof of the session',
  'account.changePassword': 'replaces the hash and ends all other sessions',
  'account.changeEmail': 'sends an email with a new link',
  'teams.offerOwnership': 'replaces the offer and sends its email',
  'oauthClients.create': 'creates a client',
  'oauthClients.rotateSecret': 'creates a secret',
  'webhooks.create': 'creates an endpoint',
  'webhooks.rotateSecret': 'creates a secret',
  'webhooks.sendTest': 'sends a delivery',
  'operator.createAccount': 'creates an account',
  'operator.sendLink': 'sends an email',
  'operator.createRoleTemplate': 'creates a role template, of another name in this table',
  'operator.createTeam': 'creates a team',
  'operator.createOperatorKey': 'creates a key',
  'operator.rotateOperatorKey': 'creates a secret',
  'operator.createClient': 'creates a client',
  'operator.rotateClientSecret': 'creates a secret',
  'operator.retryJobs': 'lets the job run again',
};

describe.for(MUTATIONS)('%s', ([name, , prepare]) => {
  test('with the same input again is recorded only if it has an effect again', async ({ api }) => {
    const scene = await aScene(api);
    const { visitor = scene.owner.visitor, call } = await prepare(scene);
    await call(visitor.trpc);

    const events = await recordedBy(api, visitor, () => call(visitor.trpc).catch(() => undefined));

    const reason = EFFECTS[name];
    if (reason === undefined) expect(events.map(({ event }) => event)).toEqual([]);
    else expect([reason, events.length > 0]).toEqual([reason, true]);
  });
});

type Call = (
  operator: ReturnType<Api['as']>,
  ids: Readonly<Record<'team' | 'account' | 'member' | 'next', string>>,
) => Promise<unknown>;

const account: (path: string) => (ids: { readonly account: string }) => string =
  (path) =>
  ({ account: id }) =>
    `/operator/v1/accounts/${id}${path}`;
const team = (path: string) => (ids: { readonly team: string }) => `/operator/v1/teams/${ids.team}${path}`;

const CLIENTS = '/operator/v1/clients';
const PERMISSIONS = '/operator/v1/permissions';
const TEMPLATES = '/operator/v1/role-templates';
const METADATA = { public: { a: { b: [1] } }, private: { c: null, d: 'e' } };

/** Changes over the operator API that set something. */
const SETTING: Readonly<Record<string, Call>> = {
  updateAccount: (to, ids) =>
    to.patch(account('')(ids), { firstName: '李', externalId: `crm-${ids.account}`, isEmailVerified: true }),
  disableAccount: (to, ids) => to.post(account('/disable')(ids)),
  enableAccount: async (to, ids) => to.post(account('/enable')(ids)),
  deleteAccount: (to, ids) => to.delete(account('')(ids)),
  endSessions: (to, ids) => to.delete(account('/sessions')(ids)),
  updateTeam: (to, ids) =>
    to.patch(team('')(ids), { name: 'Kites', description: 'Of paper.', externalId: `crm-${ids.team}` }),
  deleteTeam: (to, ids) => to.delete(team('')(ids)),
  transferTeam: (to, ids) => to.post(team('/transfer')(ids), { accountId: ids.next }),
  setSubscription: (to, ids) =>
    to.send({
      method: 'PUT',
      path: team('/subscription')(ids),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ planId: 'pro', addons: { seats: 2 } }),
    }),
  addMember: (to, ids) => to.post(team('/members')(ids), { accountId: ids.next }),
  updateMember: (to, ids) =>
    to.patch(team(`/members/${ids.member}`)(ids), {
      roleId: 'member',
      isActive: false,
      expiresAt: '2999-01-01T00:00:00Z',
    }),
  removeMember: (to, ids) => to.delete(team(`/members/${ids.member}`)(ids)),
  updateRole: async (to, ids) => {
    const { roles } = (await to.get(team('/roles')(ids))).body as { roles: { id: string; isSystemRole: boolean }[] };
    const own = roles.find(({ isSystemRole }) => !isSystemRole);
    const { id } = own ?? (await to.post(team('/roles')(ids), { name: 'Helper', permissions: [] })).body;
    await to.patch(team(`/roles/${id}`)(ids), { name: 'Editor', permissions: ['access_billing'] });
  },
  updateRoleTemplate: async (to, ids) => {
    const names = { before: `Before ${ids.team}`, after: `After ${ids.team}` };
    const { roleTemplates } = (await to.get(TEMPLATES)).body as { roleTemplates: { id: string; name: string }[] };
    const known = roleTemplates.find(({ name }) => name === names.after);
    const { id } = known ?? (await to.post(TEMPLATES, { name: names.before, permissions: [] })).body;
    await to.patch(`${TEMPLATES}/${id}`, { name: names.after, permissions: ['access_billing'] });
  },
  updateClient: async (to, ids) => {
    const fields = { name: `Product of ${ids.team}`, redirectUris: ['https://app.example/cb'], isConfidential: true };
    const { clients } = (await to.get(CLIENTS)).body as { clients: { id: string; name: string }[] };
    const known = clients.find(({ name }) => name === fields.name);
    const { id } = known ?? (await to.post(CLIENTS, { ...fields, scopes: ['teams:read'] })).body.client;
    await to.patch(`${CLIENTS}/${id}`, { scopes: ['profile:read'], homeUrl: 'https://app.example/' });
  },
  applyPermissions: async (to, ids) => {
    const name = `late:${ids.team}`;
    const { permissions } = (await to.get(PERMISSIONS)).body as { permissions: { name: string }[] };
    const others = permissions.filter((permission) => permission.name !== name);
    await to.send({
      method: 'PUT',
      path: PERMISSIONS,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ permissions: [...others, { name, title: { en: 'Late' } }] }),
    });
  },
  updateApiKey: async (to, ids) => {
    const name = `keys:${ids.team}`;
    const { permissions } = (await to.get(PERMISSIONS)).body as { permissions: { name: string }[] };
    const { keys } = (await to.get(account('/api-keys')(ids))).body as { keys: { id: string }[] };
    if (permissions.every((permission) => permission.name !== name))
      await to.send({
        method: 'PUT',
        path: PERMISSIONS,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ permissions: [...permissions, { name, title: { en: 'Keys' }, keys: true }] }),
      });
    const input = { accountId: ids.account, name: 'Key', scopes: ['teams:read'] };
    const id = keys[0]?.id ?? (await to.post('/operator/v1/api-keys', input)).body.key.id;
    await to.patch(`/operator/v1/api-keys/${id}`, { permissions: [name] });
  },
  updateAccountMetadata: (to, ids) => to.patch(account('/metadata')(ids), METADATA),
  updateTeamMetadata: (to, ids) => to.patch(team('/metadata')(ids), METADATA),
  updateMemberMetadata: (to, ids) => to.patch(team(`/members/${ids.member}/metadata`)(ids), METADATA),
};

describe('over the operator API', () => {
  test.for(Object.entries(SETTING))('%s with the same input again is not recorded', async ([, call], { api }) => {
    const {
      team: { id: teamId },
      member,
    } = await aScene(api);
    const [one, next] = [await api.anAccount(), await api.anAccount()];
    await api.aSession(one);
    const key = await api.anOperatorKey();
    const ids = { team: teamId, account: one.id, member: member.id, next: next.id };
    const events = async () =>
      (
        await api.rows<{ event: string }>(
          `select event from audit_event where credential_id = $1 and event !~ 'used|viewed' order by id`,
          [key.id],
        )
      ).map(({ event }) => event);
    if (call === SETTING['enableAccount']) await api.as(key).post(account('/disable')(ids));
    const before = await events();
    await call(api.as(key), ids);
    const once = await events();
    expect(once.length).toBeGreaterThan(before.length);

    await call(api.as(key), ids);

    expect(await events()).toEqual(once);
  });

  // The services behind the others are those of the tables above and of the command line.
  const SHARED =
    /Webhook|OperatorKey|Import|sendLink|(create|delete)(Role|Client)|rotateClient|create(Account|Team)|(create|revoke)ApiKey/;
  test('is every change that sets something', () => {
    const names = OF_OPERATOR_KEYS.map((name) => name.replace('operatorApi.', ''));
    expect(names.filter((name) => !SHARED.test(name)).toSorted()).toEqual(Object.keys(SETTING).toSorted());
  });
});
