import type { Permission } from '../pages/team/team.ts';
import { defineTexts } from './define-texts.ts';

/** Descriptions of the permissions for users. */
export const permissionTexts = defineTexts('permission', {
  edit_team_settings: 'Change the team’s settings and roles',
  access_dashboard: 'View members and roles',
  remove_members: 'Deactivate and remove members',
  invite_members: 'Invite people and revoke invitations',
  access_billing: 'View plan and billing',
  manage_api_keys: 'Manage the team’s API keys',
} satisfies Readonly<Record<Permission, string>>);
