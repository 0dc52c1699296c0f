import { generateSecret } from '../../src/crypto/webhook-secret.ts';
import { newId, PERMISSIONS, SCOPES, type Scope } from '../../src/entities/index.ts';
import { askConsent, aProofKey, goodRequest } from '../oauth/flow.ts';
import type { Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { signedIn } from '../support/browser.ts';
import { anInvitationWithLink, inMinutes } from './console.ts';
import { PASSWORD, passwordHash } from './people.ts';
import { aPermission, aWiderCatalogue } from './product-permissions.ts';
import { aTemplate, aTemplateName } from './role-templates.ts';

const HOOK = 'https://example.com/roster';
const CLIENT = {
  name: 'Reports',
  redirectUris: ['https://reports.example/callback'],
  isNative: false,
  isConfidential: true,
};
const APPROVED: readonly Scope[] = ['teams:read'];

/** A team with something to change, its owner who calls, and what only operators change. */
export async function aScene(api: Api) {
  const [caller, other, nobody] = [await api.anAccount(), await api.anAccount(), await api.anAccount()];
  const team = await api.aTeam({ owner: caller });
  const elsewhere = await api.aTeam({ owner: other });
  await api.aSubscription(team);
  await api.aMember(team, other, { role: 'member' });
  await api.aMember(elsewhere, caller, { role: (await api.aRole(elsewhere, PERMISSIONS)).id });
  const visitor = await signedIn(api, caller);
  return {
    api,
    caller,
    other,
    nobody,
    visitor,
    trpc: visitor.trpc,
    teamId: team.id,
    /** A team in which the caller is a member, but not the owner. */
    elsewhere,
    userId: other.id,
    invitation: await api.anInvitation(team),
    roleId: (await api.aRole(team, [])).id,
    personalKey: await api.anApiKey(caller, { scopes: SCOPES }),
    keyOfTeam: await api.anApiKey(caller, { team }),
    operatorKey: await api.anOperatorKey(),
  };
}

export type Scene = Awaited<ReturnType<typeof aScene>>;
type Input = Readonly<Record<string, unknown>> | undefined;

/** Prepares valid input of a mutation, and whatever it changes. */
export type Build = (scene: Scene) => Input | Promise<Input>;

const anOffer = ({ api }: Scene, teamId: string, nomineeId: string) =>
  api.rows(
    `insert into ownership_transfer (team_id, nominee_id, expires_at, created_at)
     values ($1, $2, now() + interval '1 day', now())`,
    [teamId, nomineeId],
  );

const withPassword = async ({ api, caller }: Scene) =>
  api.rows('update account set password_hash = $2 where id = $1', [caller.id, await passwordHash()]);

async function aPasskey({ trpc, caller }: Scene) {
  const authenticator = createAuthenticator();
  const options = await trpc.passkeys.registrationOptions.mutate();
  const passkey = await trpc.passkeys.register.mutate({ name: 'Mine', response: authenticator.create(options) });
  return { id: passkey.id, authenticator, caller };
}

async function aClient({ trpc }: Scene): Promise<{ clientId: string }> {
  const { client } = await trpc.oauthClients.create.mutate(CLIENT);
  return { clientId: client.id };
}

async function aConsent({ api, visitor }: Scene, options: Parameters<Api['anOAuthClient']>[0] = {}) {
  const { challenge } = aProofKey();
  return { id: await askConsent(api, visitor, goodRequest(await api.anOAuthClient(options), challenge, APPROVED)) };
}

/** A webhook endpoint of the team, or of the installation, with a failed delivery. */
async function anEndpoint({ api }: Scene, teamId: string | null, { isPaused = false } = {}): Promise<Target> {
  const [endpointId, deliveryId] = [newId('whe'), newId('whd')];
  await api.rows(
    `insert into webhook_endpoint (id, created_at, url, types, secret, team_id, account_id, paused_at)
     values ($1, now(), $2, '{}', $5, $3, (select account_id from membership where team_id = $3 and role_id = 'owner'),
       $4)`,
    [endpointId, HOOK, teamId, isPaused ? new Date() : null, api.services.encryption.encrypt(generateSecret('hmac'))],
  );
  await api.rows(
    `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event, state, due_at)
     values ($1, now(), $2, 'evt_none', 'team.updated', 'failed', now())`,
    [deliveryId, endpointId],
  );
  return { endpointId, deliveryId };
}

type Target = { readonly endpointId: string; readonly deliveryId: string };

/** What takes an endpoint: of a team, and of the installation. */
const onEndpoint = (more: Input = {}, options?: { isPaused: boolean }): Readonly<Record<string, Build>> => ({
  'of a team': async (scene) => ({
    ...more,
    teamId: scene.teamId,
    endpointId: (await anEndpoint(scene, scene.teamId, options)).endpointId,
  }),
  'of the installation': async (scene) => ({
    ...more,
    teamId: null,
    endpointId: (await anEndpoint(scene, null, options)).endpointId,
  }),
});

const installation =
  (more: Input = {}, options?: { isPaused: boolean }): Build =>
  async (scene) => ({ ...more, endpointId: (await anEndpoint(scene, null, options)).endpointId });

const since = () => inMinutes(-9).toISOString();
const own: Build = ({ teamId }) => ({ teamId });
const account: Build = ({ userId }) => ({ accountId: userId });
const member: Build = ({ teamId, userId }) => ({ teamId, userId });
const anAddress = () => `late-${crypto.randomUUID()}@example.com`;
const ROWS = `${JSON.stringify({ type: 'account', externalId: 'late', email: 'late@example.com' })}\n`;

const aClientOfTheOperator = async (api: Api) => ({
  clientId: (await api.anOAuthClient({ confidential: true, firstParty: ['teams:read'] })).id,
});

const OPERATIONS: Readonly<Record<string, Build>> = {
  createOperatorKey: () => ({ name: 'Late', scopes: ['teams:read'] }),
  rotateOperatorKey: async ({ api }) => ({ keyId: (await api.anOperatorKey()).id, overlapHours: 0 }),
  revokeOperatorKey: async ({ api }) => ({ keyId: (await api.anOperatorKey()).id }),
  createClient: () => ({ ...CLIENT, scopes: ['teams:read'] }),
  updateClient: async ({ api }) => ({ ...(await aClientOfTheOperator(api)), name: 'Late' }),
  rotateClientSecret: async ({ api }) => ({ ...(await aClientOfTheOperator(api)), overlapHours: 0 }),
  deleteClient: ({ api }) => aClientOfTheOperator(api),
  createAccount: () => ({ email: anAddress() }),
  updateAccount: ({ userId }) => ({ accountId: userId, lastName: 'Late' }),
  deleteAccount: ({ nobody }) => ({ accountId: nobody.id }),
  disableAccount: account,
  enableAccount: async ({ api, nobody }) => {
    await api.rows('update account set disabled_at = now() where id = $1', [nobody.id]);
    return { accountId: nobody.id };
  },
  endSessions: async ({ api, other }) => {
    await api.aSession(other);
    return { accountId: other.id };
  },
  sendLink: ({ userId }) => ({ accountId: userId, kind: 'sign_in' }),
  createTeam: ({ userId }) => ({ name: 'Late', ownerId: userId }),
  updateTeam: ({ teamId }) => ({ teamId, name: 'Late' }),
  deleteTeam: own,
  transferTeam: ({ teamId, userId }) => ({ teamId, accountId: userId }),
  setSubscription: ({ teamId }) => ({
    teamId,
    planId: 'pro',
    status: 'active',
    interval: 'year',
    addons: { seats: 3 },
  }),
  addMember: ({ teamId, nobody }) => ({ teamId, accountId: nobody.id, roleId: 'member' }),
  updateMember: ({ teamId, userId }) => ({ teamId, accountId: userId, roleId: 'guest' }),
  removeMember: ({ teamId, userId }) => ({ teamId, accountId: userId }),
  createRole: ({ teamId }) => ({ teamId, name: 'Late', permissions: [] }),
  updateRole: async ({ api, teamId }) => ({ teamId, roleId: (await api.aRole({ id: teamId }, [])).id, name: 'Later' }),
  deleteRole: async ({ api, teamId }) => ({
    teamId,
    roleId: (await api.aRole({ id: teamId }, [])).id,
    replacementRoleId: 'guest',
  }),
  createRoleTemplate: ({ api }) => ({ name: aTemplateName(api), permissions: [] }),
  updateRoleTemplate: async ({ api }) => ({ templateId: await aTemplate(api), permissions: ['access_billing'] }),
  applyPermissions: async ({ api }) => ({ permissions: (await aWiderCatalogue(api)).permissions }),
  deleteRoleTemplate: async ({ api }) => ({ templateId: await aTemplate(api) }),
  updateAccountMetadata: ({ userId }) => ({ accountId: userId, public: { late: true } }),
  updateTeamMetadata: ({ teamId }) => ({ teamId, private: { late: true } }),
  updateMemberMetadata: ({ teamId, userId }) => ({ teamId, accountId: userId, public: { late: true } }),
};

type Builds = Readonly<Record<string, Build | Readonly<Record<string, Build>>>>;

const under = (area: string, builds: Builds) =>
  Object.fromEntries(Object.entries(builds).map(([name, build]) => [`${area}.${name}`, build]));

/** Input for each mutation that takes a credential, or one for each of its ways. */
export const INPUTS: Builds = {
  updateMe: () => ({ firstName: 'Late', lastName: 'Caller' }),
  revokeMySession: async ({ api, caller }) => ({ sessionId: (await api.aSession(caller)).id }),
  createTeam: () => ({ name: 'Late' }),
  updateTeam: ({ teamId }) => ({ teamId, name: 'Late' }),
  removeTeamMember: member,
  createTeamInvitation: ({ teamId }) => ({ teamId, email: anAddress() }),
  revokeTeamInvitation: ({ teamId, invitation }) => ({ teamId, invitationId: invitation.id }),
  createApiKey: {
    personal: () => ({ name: 'Late', scopes: ['teams:read'] }),
    'of a team': ({ teamId }) => ({ name: 'Late', scopes: ['teams:read'], teamId }),
  },
  updateApiKey: {
    personal: async ({ api, caller }) => ({ keyId: (await api.anApiKey(caller)).id, scopes: ['members:read'] }),
    'of a team': ({ keyOfTeam }) => ({ keyId: keyOfTeam.id, scopes: ['members:read'] }),
  },
  revokeApiKey: {
    personal: async ({ api, caller }) => ({ keyId: (await api.anApiKey(caller)).id }),
    'of a team': ({ keyOfTeam }) => ({ keyId: keyOfTeam.id }),
  },
  'authorizations.approve': {
    'for the account': async (scene) => ({
      ...(await aConsent(scene)),
      accountId: scene.caller.id,
      teamId: null,
      scopes: APPROVED,
    }),
    'for a team': async (scene) => ({
      ...(await aConsent(scene)),
      accountId: scene.caller.id,
      teamId: scene.teamId,
      scopes: APPROVED,
    }),
  },
  'authorizations.continue': async (scene) => ({
    ...(await aConsent(scene, { firstParty: APPROVED })),
    accountId: scene.caller.id,
  }),
  'authorizations.deny': (scene) => aConsent(scene),
  'account.prove': async (scene) => {
    await withPassword(scene);
    return { password: PASSWORD };
  },
  'account.changePassword': () => ({ newPassword: 'quiet lighthouse 42' }),
  'account.changeEmail': () => ({ newEmail: anAddress() }),
  'account.updateProfile': () => ({ preferredLocale: 'de' }),
  'account.delete': async ({ api, caller, teamId, userId }) => {
    await api.rows(`update membership set role_id = 'guest' where team_id = $1 and account_id = $2`, [
      teamId,
      caller.id,
    ]);
    await api.rows(`update membership set role_id = 'owner' where team_id = $1 and account_id = $2`, [teamId, userId]);
    return undefined;
  },
  'sessions.revokeOthers': async ({ api, caller }) => {
    await api.aSession(caller);
    return undefined;
  },
  'teams.updateDetails': ({ teamId }) => ({ teamId, description: 'Late' }),
  'teams.leave': ({ elsewhere }) => ({ teamId: elsewhere.id }),
  'teams.delete': own,
  'teams.offerOwnership': member,
  'teams.withdrawOwnershipOffer': async (scene) => {
    await anOffer(scene, scene.teamId, scene.userId);
    return { teamId: scene.teamId };
  },
  'teams.acceptOwnership': async (scene) => {
    await anOffer(scene, scene.elsewhere.id, scene.caller.id);
    return { teamId: scene.elsewhere.id };
  },
  'teams.declineOwnership': async (scene) => {
    await anOffer(scene, scene.elsewhere.id, scene.caller.id);
    return { teamId: scene.elsewhere.id };
  },
  'members.setRole': ({ teamId, userId, roleId }) => ({ teamId, userId, roleId }),
  'members.activate': async ({ api, teamId, userId }) => {
    await api.rows('update membership set is_active = false where team_id = $1 and account_id = $2', [teamId, userId]);
    return { teamId, userId };
  },
  'members.deactivate': member,
  'members.removeWithInvitations': member,
  'members.setExpiry': ({ teamId, userId }) => ({ teamId, userId, expiresAt: inMinutes(9).toISOString() }),
  'roles.create': ({ teamId }) => ({ teamId, name: 'Late', permissions: [] }),
  'roles.update': ({ teamId, roleId }) => ({ teamId, roleId, name: 'Late' }),
  'roles.delete': ({ teamId, roleId }) => ({ teamId, roleId, replacementRoleId: 'guest' }),
  'invitations.accept': async ({ api, caller }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    return { token: (await anInvitationWithLink(api, team, { email: caller.email })).token };
  },
  'invitations.create': ({ teamId }) => ({ teamId, email: anAddress() }),
  'invitations.resend': ({ teamId, invitation }) => ({ teamId, invitationId: invitation.id }),
  'passkeys.registrationOptions': () => undefined,
  'passkeys.register': async ({ trpc }) => {
    const options = await trpc.passkeys.registrationOptions.mutate();
    return { name: 'Late', response: createAuthenticator().create(options) };
  },
  'passkeys.rename': async (scene) => ({ id: (await aPasskey(scene)).id, name: 'Late' }),
  'passkeys.remove': async (scene) => {
    await withPassword(scene);
    return { id: (await aPasskey(scene)).id };
  },
  'passkeys.proofOptions': async (scene) => {
    await aPasskey(scene);
    return undefined;
  },
  'passkeys.prove': async (scene) => {
    const { authenticator } = await aPasskey(scene);
    return { response: authenticator.get(await scene.trpc.passkeys.proofOptions.mutate()) };
  },
  'oauthClients.create': () => CLIENT,
  'oauthClients.update': async (scene) => ({ ...(await aClient(scene)), name: 'Late' }),
  'oauthClients.rotateSecret': async (scene) => ({ ...(await aClient(scene)), overlapHours: 0 }),
  'oauthClients.delete': aClient,
  'grants.narrow': async ({ api, caller }) => ({
    grantId: (await api.aGrant(caller, { scopes: ['teams:read', 'members:read'] })).id,
    scopes: ['teams:read'],
  }),
  'grants.revoke': async ({ api, caller }) => ({ grantId: (await api.aGrant(caller)).id }),
  'apiKeys.create': () => ({ name: 'Late', scopes: ['teams:read'] }),
  'apiKeys.setPermissions': async ({ api, personalKey }) => ({
    keyId: personalKey.id,
    permissions: [await aPermission(api)],
  }),
  'apiKeys.rename': ({ personalKey }) => ({ keyId: personalKey.id, name: 'Late' }),
  'apiKeys.rotate': ({ personalKey }) => ({ keyId: personalKey.id, overlapHours: 0 }),
  'apiKeys.revokeInTeam': ({ teamId, keyOfTeam }) => ({ teamId, keyId: keyOfTeam.id }),
  'webhooks.create': {
    'of a team': ({ teamId }) => ({ teamId, url: HOOK }),
    'of the installation': () => ({ teamId: null, url: HOOK }),
  },
  'webhooks.update': onEndpoint({ types: ['team.updated'] }),
  'webhooks.pause': onEndpoint(),
  'webhooks.resume': onEndpoint({}, { isPaused: true }),
  'webhooks.rotateSecret': onEndpoint({ overlapHours: 0 }),
  'webhooks.delete': onEndpoint(),
  'webhooks.sendTest': onEndpoint(),
  'webhooks.replay': {
    'of a team': async (scene) => ({ teamId: scene.teamId, ...(await anEndpoint(scene, scene.teamId)) }),
    'of the installation': async (scene) => ({ teamId: null, ...(await anEndpoint(scene, null)) }),
  },
  'webhooks.replayFailed': onEndpoint({ since: since() }),
  'operator.revokeKey': ({ personalKey }) => ({ keyId: personalKey.id }),
  'operator.retryJobs': async ({ api }) => {
    const [job] = await api.rows<{ id: string }>(
      `select id::text from graphile_worker.add_job('nothingDoesThis', '{}', max_attempts := 1)`,
    );
    await api.rows('update graphile_worker._private_jobs set attempts = 1, last_error = $2 where id = $1', [
      job?.id,
      'Away',
    ]);
    return { jobId: job?.id };
  },
  ...under('operator', OPERATIONS),
  ...under('operatorApi', {
    ...OPERATIONS,
    createApiKey: {
      personal: ({ userId }) => ({ accountId: userId, name: 'Late', scopes: ['teams:read'] }),
      'of a team': ({ teamId, userId }) => ({ accountId: userId, teamId, name: 'Late', scopes: ['teams:read'] }),
    },
    updateApiKey: async ({ api, keyOfTeam }) => ({ keyId: keyOfTeam.id, permissions: [await aPermission(api)] }),
    revokeApiKey: ({ personalKey }) => ({ keyId: personalKey.id }),
    createWebhookEndpoint: () => ({ url: HOOK, types: [] }),
    updateWebhookEndpoint: installation({ types: ['team.updated'] }),
    deleteWebhookEndpoint: installation(),
    pauseWebhookEndpoint: installation(),
    resumeWebhookEndpoint: installation({}, { isPaused: true }),
    rotateWebhookSecret: installation({ overlapHours: 0 }),
    testWebhookEndpoint: installation(),
    replayWebhookDelivery: (scene) => anEndpoint(scene, null),
    replayFailedWebhooks: installation({ since: since() }),
    createImport: () => ({ upload: ROWS }),
    cancelImport: async ({ api, operatorKey }) => {
      const headers = { 'content-type': 'application/x-ndjson' };
      const { body } = await api
        .as(operatorKey)
        .send({ method: 'POST', path: '/operator/v1/imports', headers, body: ROWS });
      return { importId: body.id };
    },
  }),
};
