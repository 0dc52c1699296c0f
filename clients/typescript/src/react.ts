export {
  useCreateApiKey,
  useCreateTeam,
  useInvite,
  useRemoveMember,
  useRevokeApiKey,
  useRevokeInvitation,
  useSetMemberRole,
} from './react/actions.ts';
export { RosterProvider, useRosterClient, type RosterClient } from './react/context.ts';
export { useInvitation } from './react/invitation.ts';
export { problemOf, useInviteForm, type FieldErrors } from './react/invite-form.ts';
export { useMembersTable, type MemberColumn } from './react/members-table.ts';
export { rosterKeys, useAccount, useApiKeys, useInvitations, useMembers, useRoles, useTeams } from './react/queries.ts';
export { useTeamSwitcher } from './react/team-switcher.ts';
