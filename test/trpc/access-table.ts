import type { Permission, Scope } from '../../src/entities/index.ts';
import type { Build, Scene } from './mutations.ts';

/**
 * Who may call a procedure of the console: anybody in a browser of our own pages, whoever is signed in, an operator, or
 * in the team of the input a member, its owner, or who has the permissions there. With `scopes` also a key that has
 * them, where else it has to be a person who is signed in.
 */
export type Row =
  | { readonly who: 'anyone' | 'session' | 'operator' | 'member' | 'owner' }
  | { readonly who: 'profile' | 'member'; readonly scopes: readonly Scope[] }
  | { readonly who: readonly Permission[]; readonly scopes?: readonly Scope[] };

const all = <R extends Row>(row: R, names: string): Record<string, R> =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, row]),
  );

/** What is neither an operation of `/api/v1` nor of `/operator/v1`: those have tables of their own. */
export const TABLE: Readonly<Record<string, Row>> = {
  ...all(
    { who: 'anyone' },
    `auth.policy auth.readApplication auth.signUp auth.pendingSignUp auth.readVerification auth.verifyEmail auth.resendVerification
     auth.signIn auth.emailSignInLink auth.readSignInLink auth.signInWithLink auth.signOut auth.forgotPassword
     auth.checkLink auth.resetPassword auth.revokeRemainingAccess account.confirmEmailChange invitations.read
     invitations.decline passkeys.signInOptions passkeys.signIn`,
  ),
  ...all(
    { who: 'session' },
    `authorizations.read authorizations.approve authorizations.continue authorizations.deny account.proof account.prove account.changePassword
     account.changeEmail account.updateProfile account.activity account.export account.delete sessions.list
     sessions.revokeOthers teams.notices teams.sizes teams.ownershipOffers invitations.accept
     passkeys.registrationOptions passkeys.register passkeys.list passkeys.rename passkeys.remove passkeys.proofOptions
     passkeys.prove oauthClients.list oauthClients.create oauthClients.update oauthClients.rotateSecret
     oauthClients.delete permissions.list grants.list grants.narrow grants.revoke apiKeys.rename apiKeys.rotate`,
  ),
  ...all(
    { who: 'member' },
    `teams.bySlug teams.permissions teams.seats teams.overview teams.leave teams.ownershipOffer teams.acceptOwnership
     teams.declineOwnership`,
  ),
  ...all({ who: 'owner' }, 'teams.delete teams.offerOwnership teams.withdrawOwnershipOffer'),
  ...all({ who: ['manage_api_keys'] }, 'apiKeys.list apiKeys.usage apiKeys.usageOfTeam apiKeys.revokeInTeam'),
  ...all(
    { who: ['edit_team_settings'] },
    `audit.list webhooks.types webhooks.list webhooks.create webhooks.update webhooks.pause webhooks.resume
     webhooks.rotateSecret webhooks.delete webhooks.sendTest webhooks.deliveries webhooks.replay webhooks.replayFailed`,
  ),
  ...all(
    { who: ['edit_team_settings'], scopes: ['teams:write'] },
    'teams.updateDetails roles.create roles.update roles.delete',
  ),
  ...all({ who: ['edit_team_settings'], scopes: ['members:write'] }, 'members.setRole'),
  ...all({ who: ['edit_team_settings'], scopes: ['teams:read'] }, 'events.list'),
  ...all({ who: 'member', scopes: ['teams:read'] }, 'metadata.team'),
  ...all(
    { who: ['access_dashboard'], scopes: ['members:read'] },
    'members.list members.history metadata.members roles.list',
  ),
  ...all(
    { who: ['remove_members'], scopes: ['members:write'] },
    'members.activate members.deactivate members.setExpiry members.removalPreview members.removalPreviews',
  ),
  ...all(
    { who: ['remove_members', 'invite_members'], scopes: ['members:write', 'invites:write'] },
    'members.removeWithInvitations',
  ),
  ...all({ who: ['invite_members'], scopes: ['members:read'] }, 'invitations.list'),
  ...all({ who: ['invite_members'], scopes: ['invites:write'] }, 'invitations.create invitations.resend'),
  ...all({ who: 'profile', scopes: ['profile:read'] }, 'events.listMine metadata.own'),
  ...all({ who: 'profile', scopes: ['api-keys:write'] }, 'apiKeys.create apiKeys.setPermissions'),
  ...all(
    { who: 'operator' },
    `events.listAll operator.find operator.account operator.team operator.health operator.members operator.keys
     operator.revokeKey operator.jobs operator.retryJobs operator.roles operator.eventNames operator.plans
     operator.audit operator.listOperatorKeys operator.createOperatorKey operator.rotateOperatorKey
     operator.listClients operator.createClient operator.updateClient operator.rotateClientSecret operator.deleteClient
     operator.revokeOperatorKey operator.listAccounts operator.getAccount operator.createAccount operator.updateAccount
     operator.deleteAccount operator.disableAccount operator.enableAccount operator.endSessions operator.sendLink
     operator.listTeams operator.getTeam operator.createTeam operator.updateTeam operator.deleteTeam
     operator.transferTeam operator.getSubscription operator.setSubscription operator.listMembers operator.addMember
     operator.updateMember operator.removeMember operator.getAccountMetadata operator.updateAccountMetadata
     operator.getTeamMetadata operator.updateTeamMetadata operator.getMemberMetadata operator.updateMemberMetadata
     operator.listRoles operator.getRole operator.createRole operator.updateRole operator.deleteRole
     operator.listRoleTemplates operator.getRoleTemplate operator.createRoleTemplate operator.updateRoleTemplate
     operator.deleteRoleTemplate operator.getPermissions operator.permissionHolders operator.applyPermissions`,
  ),
};

const ofTeam: Build = ({ teamId }) => ({ teamId });

/** Input of the reads of a team. That of changes is in `mutations.ts`. */
export const READS: Readonly<Record<string, Build>> = {
  'teams.bySlug': async ({ api, teamId }: Scene) => {
    const [team] = await api.rows<{ slug: string }>('select slug from team where id = $1', [teamId]);
    return { slug: team?.slug };
  },
  'apiKeys.usage': ({ teamId, keyOfTeam }) => ({ teamId, keyId: keyOfTeam.id }),
  'members.removalPreview': ({ teamId, userId }) => ({ teamId, userId }),
  'members.removalPreviews': ({ teamId, userId }) => ({ teamId, accountIds: [userId] }),
  'metadata.members': ({ teamId, userId }) => ({ teamId, accountIds: [userId] }),
  'webhooks.deliveries': ({ teamId }) => ({ teamId, endpointId: 'nothing' }),
  ...Object.fromEntries(
    `teams.permissions teams.seats teams.overview teams.ownershipOffer apiKeys.list apiKeys.usageOfTeam audit.list
     metadata.team webhooks.types webhooks.list events.list members.list members.history invitations.list
     roles.list`
      .split(/\s+/)
      .map((name) => [name, ofTeam]),
  ),
};
