import type { Outputs } from '../trpc.ts';

type Permission = Outputs['listTeamRoles'][number]['permissions'][number];

/** What a permission lets somebody do in a team. */
export const permissionTexts: Readonly<Record<Permission, string>> = {
  edit_team_settings: 'Change the team’s settings and roles',
  access_dashboard: 'Open the dashboard',
  remove_members: 'Deactivate and remove members',
  invite_members: 'Invite people and revoke invitations',
  access_billing: 'See the plan and billing',
  manage_api_keys: 'Manage the team’s API keys',
};
