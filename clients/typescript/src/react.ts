export {
  useChangeMember,
  useCreateApiKey,
  useCreateTeam,
  useInvite,
  useRemoveMember,
  useRevokeApiKey,
  useRevokeInvitation,
  type MemberChange,
  type MemberId,
} from './react/actions.ts';
export { RosterProvider, useRosterClient, type RosterClient } from './react/context.ts';
export { useInvitation } from './react/invitation.ts';
export { useInviteForm, type FieldErrors } from './react/invite-form.ts';
export { useInviteMany, type Invited } from './react/invite-many.ts';
export { useMembersTable, type MemberColumn } from './react/members-table.ts';
export { problemOf } from './react/problem.ts';
export {
  useAccount,
  useApiKeys,
  useInvitations,
  useMembers,
  useRoles,
  useRosterQuery,
  useTeams,
  type TeamMember,
} from './react/queries.ts';
export { createQuery, isAboutTeam, type QueryPath, type RosterQuery } from './react/query.ts';
export { useTeamReload } from './react/reload.ts';
export { useTeamSwitcher } from './react/team-switcher.ts';
export { Protect, proveInWindow, useSession, useTeam, type BrowserSession } from './react/session.ts';
