import type { Api } from '../support/api.ts';
import { aPermission } from '../trpc/product-permissions.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import type { AnAccount, ATeam } from '../support/factories.ts';
import { aProofKey, askConsent, goodRequest } from '../oauth/flow.ts';
import { anInvitationWithLink } from '../trpc/console.ts';
import { OPERATOR_AREA } from './operator-mutations.ts';
import { anAddress, aPerson, aSignedIn, OTHER_PASSWORD, PASSWORD, tokenTo } from '../trpc/people.ts';

const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();

type Trpc = Visitor['trpc'];

/** A team with its owner, who is signed in and has a password, and a member. */
export type Scene = {
  readonly api: Api;
  readonly owner: AnAccount & { readonly visitor: Visitor };
  readonly member: AnAccount;
  readonly team: ATeam;
};

export async function aScene(api: Api): Promise<Scene> {
  const owner = await aSignedIn(api);
  const team = await api.aTeam({ owner });
  const member = await api.anAccount();
  await api.aMember(team, member);
  await api.aSubscription(team);
  return { api, owner, member, team };
}

/** What comes before the call, and the call itself, which is made in the owner's browser unless it brings one. */
export type Prepared = {
  readonly visitor?: Visitor;
  readonly call: (trpc: Trpc) => Promise<unknown>;
};

export type Row = readonly [
  name: string,
  events: readonly string[],
  prepare: (scene: Scene) => Promise<Prepared> | Prepared,
];

const simply =
  (call: (trpc: Trpc, scene: Scene) => Promise<unknown>) =>
  (scene: Scene): Prepared => ({ call: (trpc) => call(trpc, scene) });

/** Somebody else's browser. */
const by = async (api: Api, account: { id: string }, call: Prepared['call']): Promise<Prepared> => {
  return { visitor: await signedIn(api, account), call };
};

async function aConsent({ api, owner }: Scene, options: Parameters<Api['anOAuthClient']>[0] = {}) {
  const client = await api.anOAuthClient(options);
  const id = await askConsent(api, owner.visitor, goodRequest(client, aProofKey().challenge, ['teams:read']));
  return { id, client };
}

async function aRegistration({ owner }: Scene) {
  const authenticator = createAuthenticator();
  const options = await owner.visitor.trpc.passkeys.registrationOptions.mutate();
  return { authenticator, response: authenticator.create(options) };
}

async function aPasskey(scene: Scene) {
  const { authenticator, response } = await aRegistration(scene);
  const passkey = await scene.owner.visitor.trpc.passkeys.register.mutate({ name: 'A passkey', response });
  return { authenticator, passkey };
}

async function anEndpoint({ owner, team: { id: teamId } }: Scene) {
  const { endpoint } = await owner.visitor.trpc.webhooks.create.mutate({ teamId, url: 'https://hooks.example/' });
  return { teamId, endpointId: endpoint.endpointId };
}

async function aFailedDelivery(scene: Scene) {
  const endpoint = await anEndpoint(scene);
  const { deliveryId } = await scene.owner.visitor.trpc.webhooks.sendTest.mutate(endpoint);
  await scene.api.rows(`update webhook_delivery set state = 'failed' where id = $1`, [deliveryId]);
  return { endpoint, deliveryId };
}

async function aClient({ owner }: Scene) {
  const { client } = await owner.visitor.trpc.oauthClients.create.mutate({
    name: 'A client',
    redirectUris: ['https://client.example/callback'],
    isNative: false,
    isConfidential: true,
  });
  return { clientId: client.id };
}

/** What every change of the product records, by the name of its procedure. */
// prettier-ignore
export const MUTATIONS: readonly Row[] = [
  ['updateMe', ['account.profile_changed'], simply((trpc) => trpc.updateMe.mutate({ firstName: 'Ada', lastName: 'Lovelace' }))],
  ['revokeMySession', ['session.ended'], async ({ api, owner }) => {
    const { id } = await api.aSession(owner);
    return { call: (trpc) => trpc.revokeMySession.mutate({ sessionId: id }) };
  }],
  ['createTeam', ['team.created', 'member.added'], simply((trpc) => trpc.createTeam.mutate({ name: 'Kites' }))],
  ['updateTeam', ['team.renamed'], simply((trpc, { team }) => trpc.updateTeam.mutate({ teamId: team.id, name: 'Kites' }))],
  ['removeTeamMember', ['member.removed'], simply((trpc, { team, member }) => trpc.removeTeamMember.mutate({ teamId: team.id, userId: member.id }))],
  ['createTeamInvitation', ['invitation.created'], simply((trpc, { team }) => trpc.createTeamInvitation.mutate({ teamId: team.id, email: anAddress(), roleId: 'member', isSystemRole: true }))],
  ['revokeTeamInvitation', ['invitation.revoked'], async ({ api, team }) => {
    const { id } = await api.anInvitation(team);
    return { call: (trpc) => trpc.revokeTeamInvitation.mutate({ teamId: team.id, invitationId: id }) };
  }],
  ['createApiKey', ['api_key.created'], simply((trpc, { team }) => trpc.createApiKey.mutate({ name: 'A key', scopes: ['teams:read'], teamId: team.id }))],
  ['updateApiKey', ['api_key.updated'], async ({ api, owner }) => {
    const { id } = await api.anApiKey(owner);
    return { call: (trpc) => trpc.updateApiKey.mutate({ keyId: id, scopes: ['members:read'] }) };
  }],
  ['revokeApiKey', ['api_key.revoked'], async ({ api, owner, team }) => {
    const { id } = await api.anApiKey(owner, { team });
    return { call: (trpc) => trpc.revokeApiKey.mutate({ keyId: id }) };
  }],
  ['auth.signUp', ['account.link_emailed', 'account.sign_up_attempted', 'session.created'], ({ api }) => ({
    visitor: api.visitor(),
    call: (trpc) => trpc.auth.signUp.mutate({ email: anAddress(), password: PASSWORD }),
  })],
  ['auth.verifyEmail', ['account.created', 'account.email_verified', 'session.created'], async ({ api }) => {
    const email = anAddress();
    await api.visitor().trpc.auth.signUp.mutate({ email, password: PASSWORD });
    const token = await tokenTo(api, email, /./);
    return { visitor: api.visitor(), call: (trpc) => trpc.auth.verifyEmail.mutate({ token, password: PASSWORD }) };
  }],
  ['auth.resendVerification', ['account.link_emailed'], async ({ api }) => {
    const { email } = await aPerson(api, { isVerified: false });
    return { visitor: api.visitor(), call: (trpc) => trpc.auth.resendVerification.mutate({ email }) };
  }],
  ['auth.emailSignInLink', ['account.link_emailed'], simply((trpc, { owner }) => trpc.auth.emailSignInLink.mutate({ email: owner.email }))],
  ['auth.signInWithLink', ['session.created'], async ({ api, owner }) => {
    await api.visitor().trpc.auth.emailSignInLink.mutate({ email: owner.email });
    const token = await tokenTo(api, owner.email, /sign-in link/);
    return { visitor: api.visitor(), call: (trpc) => trpc.auth.signInWithLink.mutate({ token }) };
  }],
  ['auth.signIn', ['session.created'], ({ api, owner }) => ({
    visitor: api.visitor(),
    call: (trpc) => trpc.auth.signIn.mutate({ email: owner.email, password: PASSWORD }),
  })],
  ['auth.signOut', ['session.ended'], simply((trpc) => trpc.auth.signOut.mutate())],
  ['auth.forgotPassword', ['account.link_emailed'], simply((trpc, { owner }) => trpc.auth.forgotPassword.mutate({ email: owner.email }))],
  ['auth.resetPassword', ['account.password_reset', 'session.ended'], async ({ api, owner }) => {
    await api.visitor().trpc.auth.forgotPassword.mutate({ email: owner.email });
    const token = await tokenTo(api, owner.email, /password/i);
    return { visitor: api.visitor(), call: (trpc) => trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD }) };
  }],
  ['auth.revokeRemainingAccess', ['api_key.revoked'], async ({ api, owner }) => {
    await api.anApiKey(owner);
    await api.visitor().trpc.auth.forgotPassword.mutate({ email: owner.email });
    const reset = { token: await tokenTo(api, owner.email, /^Reset/), password: OTHER_PASSWORD };
    const { revocationToken: token } = await api.visitor().trpc.auth.resetPassword.mutate(reset);
    return { visitor: api.visitor(), call: (trpc) => trpc.auth.revokeRemainingAccess.mutate({ token }) };
  }],
  ['authorizations.approve', ['oauth_grant.approved'], async (scene) => {
    const { id } = await aConsent(scene);
    return { call: (trpc) => trpc.authorizations.approve.mutate({ id, accountId: scene.owner.id, teamId: scene.team.id, scopes: ['teams:read'] }) };
  }],
  ['authorizations.continue', ['oauth_grant.approved'], async (scene) => {
    const { id } = await aConsent(scene, { firstParty: ['teams:read'] });
    return { call: (trpc) => trpc.authorizations.continue.mutate({ id, accountId: scene.owner.id }) };
  }],
  ['authorizations.deny', ['oauth_grant.denied'], async (scene) => {
    const { id } = await aConsent(scene);
    return { call: (trpc) => trpc.authorizations.deny.mutate({ id }) };
  }],
  ['account.prove', ['session.proven'], simply((trpc) => trpc.account.prove.mutate({ password: PASSWORD }))],
  ['account.changePassword', ['account.password_changed', 'session.ended', 'session.created'], simply((trpc) => trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD }))],
  ['account.changeEmail', ['account.email_change_requested'], simply((trpc) => trpc.account.changeEmail.mutate({ newEmail: anAddress() }))],
  ['account.confirmEmailChange', ['account.email_changed'], async ({ api, owner }) => {
    const newEmail = anAddress();
    await owner.visitor.trpc.account.changeEmail.mutate({ newEmail });
    const token = await tokenTo(api, newEmail, /./);
    return { call: (trpc) => trpc.account.confirmEmailChange.mutate({ token }) };
  }],
  ['account.updateProfile', ['account.profile_changed'], simply((trpc) => trpc.account.updateProfile.mutate({ preferredLocale: 'de' }))],
  ['account.delete', ['member.left', 'account.deleted'], ({ api, member }) => by(api, member, (trpc) => trpc.account.delete.mutate())],
  ['sessions.revokeOthers', ['session.ended'], async ({ api, owner }) => {
    await api.aSession(owner);
    return { call: (trpc) => trpc.sessions.revokeOthers.mutate() };
  }],
  ['teams.updateDetails', ['team.updated'], simply((trpc, { team }) => trpc.teams.updateDetails.mutate({ teamId: team.id, description: 'Of paper.' }))],
  ['teams.leave', ['member.left'], ({ api, member, team }) => by(api, member, (trpc) => trpc.teams.leave.mutate({ teamId: team.id }))],
  ['teams.delete', ['team.deleted'], simply((trpc, { team }) => trpc.teams.delete.mutate({ teamId: team.id }))],
  ['teams.offerOwnership', ['ownership.offered'], simply((trpc, { team, member }) => trpc.teams.offerOwnership.mutate({ teamId: team.id, userId: member.id }))],
  ['teams.withdrawOwnershipOffer', ['ownership.offer_withdrawn'], async ({ owner, team, member }) => {
    await owner.visitor.trpc.teams.offerOwnership.mutate({ teamId: team.id, userId: member.id });
    return { call: (trpc) => trpc.teams.withdrawOwnershipOffer.mutate({ teamId: team.id }) };
  }],
  ['teams.acceptOwnership', ['ownership.transferred'], async ({ api, owner, team, member }) => {
    await owner.visitor.trpc.teams.offerOwnership.mutate({ teamId: team.id, userId: member.id });
    return by(api, member, (trpc) => trpc.teams.acceptOwnership.mutate({ teamId: team.id }));
  }],
  ['teams.declineOwnership', ['ownership.declined'], async ({ api, owner, team, member }) => {
    await owner.visitor.trpc.teams.offerOwnership.mutate({ teamId: team.id, userId: member.id });
    return by(api, member, (trpc) => trpc.teams.declineOwnership.mutate({ teamId: team.id }));
  }],
  ['members.setRole', ['member.role_changed'], simply((trpc, { team, member }) => trpc.members.setRole.mutate({ teamId: team.id, userId: member.id, roleId: 'member' }))],
  ['members.activate', ['member.activated'], async ({ api, team }) => {
    const account = await api.anAccount();
    await api.aMember(team, account, { active: false });
    return { call: (trpc) => trpc.members.activate.mutate({ teamId: team.id, userId: account.id }) };
  }],
  ['members.deactivate', ['member.deactivated'], simply((trpc, { team, member }) => trpc.members.deactivate.mutate({ teamId: team.id, userId: member.id }))],
  ['members.removeWithInvitations', ['member.removed'], simply((trpc, { team, member }) => trpc.members.removeWithInvitations.mutate({ teamId: team.id, userId: member.id }))],
  ['members.setExpiry', ['member.expiry_changed'], simply((trpc, { team, member }) => trpc.members.setExpiry.mutate({ teamId: team.id, userId: member.id, expiresAt: TOMORROW }))],
  ['roles.create', ['role.created'], simply((trpc, { team }) => trpc.roles.create.mutate({ teamId: team.id, name: 'Editors', permissions: [] }))],
  ['roles.update', ['role.updated'], async ({ api, team }) => {
    const { id } = await api.aRole(team, []);
    return { call: (trpc) => trpc.roles.update.mutate({ teamId: team.id, roleId: id, permissions: ['invite_members'] }) };
  }],
  ['roles.delete', ['role.deleted'], async ({ api, team }) => {
    const { id } = await api.aRole(team, []);
    return { call: (trpc) => trpc.roles.delete.mutate({ teamId: team.id, roleId: id, replacementRoleId: 'guest' }) };
  }],
  ['invitations.accept', ['member.added', 'invitation.accepted'], async ({ api, team }) => {
    const guest = await api.anAccount();
    const { token } = await anInvitationWithLink(api, team, { email: guest.email });
    return by(api, guest, (trpc) => trpc.invitations.accept.mutate({ token }));
  }],
  ['invitations.decline', ['invitation.declined'], async ({ api, team }) => {
    const { token } = await anInvitationWithLink(api, team);
    return { visitor: api.visitor(), call: (trpc) => trpc.invitations.decline.mutate({ token }) };
  }],
  ['invitations.create', ['invitation.created'], simply((trpc, { team }) => trpc.invitations.create.mutate({ teamId: team.id, email: anAddress(), roleId: 'member', isSystemRole: true }))],
  ['invitations.resend', ['invitation.resent'], async ({ api, team }) => {
    const { id } = await api.anInvitation(team);
    return { call: (trpc) => trpc.invitations.resend.mutate({ teamId: team.id, invitationId: id }) };
  }],
  ['passkeys.register', ['passkey.added'], async (scene) => {
    const { response } = await aRegistration(scene);
    return { call: (trpc) => trpc.passkeys.register.mutate({ name: 'A passkey', response }) };
  }],
  ['passkeys.rename', ['passkey.renamed'], async (scene) => {
    const { passkey } = await aPasskey(scene);
    return { call: (trpc) => trpc.passkeys.rename.mutate({ id: passkey.id, name: 'Another name' }) };
  }],
  ['passkeys.remove', ['passkey.removed'], async (scene) => {
    const { passkey } = await aPasskey(scene);
    return { call: (trpc) => trpc.passkeys.remove.mutate({ id: passkey.id }) };
  }],
  ['passkeys.prove', ['session.proven'], async (scene) => {
    const { authenticator } = await aPasskey(scene);
    const options = await scene.owner.visitor.trpc.passkeys.proofOptions.mutate();
    return { call: (trpc) => trpc.passkeys.prove.mutate({ response: authenticator.get(options) }) };
  }],
  ['passkeys.signIn', ['session.created'], async (scene) => {
    const { authenticator } = await aPasskey(scene);
    const visitor = scene.api.visitor();
    const options = await visitor.trpc.passkeys.signInOptions.mutate();
    return { visitor, call: (trpc) => trpc.passkeys.signIn.mutate({ response: authenticator.get(options) }) };
  }],
  ['oauthClients.create', ['oauth_client.created'], simply((_trpc, scene) => aClient(scene))],
  ['oauthClients.update', ['oauth_client.updated'], async (scene) => {
    const { clientId } = await aClient(scene);
    return { call: (trpc) => trpc.oauthClients.update.mutate({ clientId, name: 'Another name' }) };
  }],
  ['oauthClients.rotateSecret', ['oauth_client.secret_rotated'], async (scene) => {
    const { clientId } = await aClient(scene);
    return { call: (trpc) => trpc.oauthClients.rotateSecret.mutate({ clientId, overlapHours: 0 }) };
  }],
  ['oauthClients.delete', ['oauth_grant.revoked', 'oauth_client.deleted'], async (scene) => {
    const { clientId } = await aClient(scene);
    await scene.api.aGrant(scene.member, { client: { id: clientId } });
    return { call: (trpc) => trpc.oauthClients.delete.mutate({ clientId }) };
  }],
  ['grants.narrow', ['oauth_grant.reduced'], async ({ api, owner }) => {
    const { id } = await api.aGrant(owner, { scopes: ['teams:read', 'members:read'] });
    return { call: (trpc) => trpc.grants.narrow.mutate({ grantId: id, scopes: ['teams:read'] }) };
  }],
  ['grants.revoke', ['oauth_grant.revoked'], async ({ api, owner }) => {
    const { id } = await api.aGrant(owner);
    return { call: (trpc) => trpc.grants.revoke.mutate({ grantId: id }) };
  }],
  ['apiKeys.create', ['api_key.created'], simply((trpc) => trpc.apiKeys.create.mutate({ name: 'Mine', scopes: ['teams:read'] }))],
  ['apiKeys.setPermissions', ['api_key.updated'], async ({ api, owner }) => {
    const { id: keyId } = await api.anApiKey(owner);
    const permissions = [await aPermission(api)];
    return { call: (trpc) => trpc.apiKeys.setPermissions.mutate({ keyId, permissions }) };
  }],
  ['apiKeys.rotate', ['api_key.rotated'], async ({ api, owner }) => {
    const { id } = await api.anApiKey(owner);
    return { call: (trpc) => trpc.apiKeys.rotate.mutate({ keyId: id, overlapHours: 0 }) };
  }],
  ['apiKeys.rename', ['api_key.updated'], async ({ api, owner }) => {
    const { id } = await api.anApiKey(owner);
    return { call: (trpc) => trpc.apiKeys.rename.mutate({ keyId: id, name: 'Deployments' }) };
  }],
  ['apiKeys.revokeInTeam', ['api_key.revoked'], async ({ api, team, member }) => {
    const { id } = await api.anApiKey(member, { team });
    return { call: (trpc) => trpc.apiKeys.revokeInTeam.mutate({ teamId: team.id, keyId: id }) };
  }],
  ['webhooks.create', ['webhook_endpoint.created'], simply((trpc, { team: { id: teamId } }) =>
    trpc.webhooks.create.mutate({ teamId, url: 'https://hooks.example/' }),
  )],
  ['webhooks.update', ['webhook_endpoint.updated'], async (scene) => {
    const endpoint = await anEndpoint(scene);
    return { call: (trpc) => trpc.webhooks.update.mutate({ ...endpoint, types: ['team.renamed'] }) };
  }],
  ['webhooks.pause', ['webhook_endpoint.paused'], async (scene) => {
    const endpoint = await anEndpoint(scene);
    return { call: (trpc) => trpc.webhooks.pause.mutate(endpoint) };
  }],
  ['webhooks.resume', ['webhook_endpoint.resumed'], async (scene) => {
    const endpoint = await anEndpoint(scene);
    await scene.owner.visitor.trpc.webhooks.pause.mutate(endpoint);
    return { call: (trpc) => trpc.webhooks.resume.mutate(endpoint) };
  }],
  ['webhooks.rotateSecret', ['webhook_endpoint.secret_rotated'], async (scene) => {
    const endpoint = await anEndpoint(scene);
    return { call: (trpc) => trpc.webhooks.rotateSecret.mutate(endpoint) };
  }],
  ['webhooks.sendTest', ['webhook_endpoint.tested'], async (scene) => {
    const endpoint = await anEndpoint(scene);
    return { call: (trpc) => trpc.webhooks.sendTest.mutate(endpoint) };
  }],
  ['webhooks.replay', ['webhook_endpoint.replayed'], async (scene) => {
    const { endpoint, deliveryId } = await aFailedDelivery(scene);
    return { call: (trpc) => trpc.webhooks.replay.mutate({ ...endpoint, deliveryId }) };
  }],
  ['webhooks.replayFailed', ['webhook_endpoint.replayed'], async (scene) => {
    const { endpoint } = await aFailedDelivery(scene);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    return { call: (trpc) => trpc.webhooks.replayFailed.mutate({ ...endpoint, since }) };
  }],
  ['webhooks.delete', ['webhook_endpoint.deleted'], async (scene) => {
    const endpoint = await anEndpoint(scene);
    return { call: (trpc) => trpc.webhooks.delete.mutate(endpoint) };
  }],
  ...OPERATOR_AREA,
];

/**
 * What changes nothing that anybody could ask about: a question to an authenticator, gone within minutes, and reads of
 * links, whose secrets do not belong into a URL.
 */
export const UNRECORDED: readonly string[] = [
  'auth.checkLink',
  'auth.readSignInLink',
  'auth.readVerification',
  'invitations.read',
  'passkeys.registrationOptions',
  'passkeys.proofOptions',
  'passkeys.signInOptions',
  'operatorApi.verifyCredential',
];

/** Changes of operator keys, whose events the tests of each resource in test/operator compare. */
export const OF_OPERATOR_KEYS: readonly string[] = [
  'operatorApi.addMember',
  'operatorApi.applyPermissions',
  'operatorApi.cancelImport',
  'operatorApi.createAccount',
  'operatorApi.createApiKey',
  'operatorApi.createClient',
  'operatorApi.createImport',
  'operatorApi.createOperatorKey',
  'operatorApi.createRole',
  'operatorApi.createRoleTemplate',
  'operatorApi.createTeam',
  'operatorApi.createWebhookEndpoint',
  'operatorApi.deleteAccount',
  'operatorApi.deleteClient',
  'operatorApi.deleteRole',
  'operatorApi.deleteRoleTemplate',
  'operatorApi.deleteTeam',
  'operatorApi.deleteWebhookEndpoint',
  'operatorApi.disableAccount',
  'operatorApi.enableAccount',
  'operatorApi.endSessions',
  'operatorApi.pauseWebhookEndpoint',
  'operatorApi.removeMember',
  'operatorApi.replayFailedWebhooks',
  'operatorApi.replayWebhookDelivery',
  'operatorApi.resumeWebhookEndpoint',
  'operatorApi.revokeApiKey',
  'operatorApi.revokeOperatorKey',
  'operatorApi.rotateClientSecret',
  'operatorApi.rotateOperatorKey',
  'operatorApi.rotateWebhookSecret',
  'operatorApi.sendLink',
  'operatorApi.setSubscription',
  'operatorApi.testWebhookEndpoint',
  'operatorApi.transferTeam',
  'operatorApi.updateAccount',
  'operatorApi.updateAccountMetadata',
  'operatorApi.updateApiKey',
  'operatorApi.updateClient',
  'operatorApi.updateMember',
  'operatorApi.updateMemberMetadata',
  'operatorApi.updateRole',
  'operatorApi.updateRoleTemplate',
  'operatorApi.updateTeam',
  'operatorApi.updateTeamMetadata',
  'operatorApi.updateWebhookEndpoint',
];
