import type { Permission } from '../api-types.ts';
import { definePageTexts } from './define-page-texts.ts';

/** Descriptions of the permissions for users. */
export const permissionTexts = definePageTexts('permission', {
  edit_team_settings: 'Change the team’s settings and roles',
  access_dashboard: 'View members and roles',
  remove_members: 'Deactivate and remove members',
  invite_members: 'Invite people and revoke invitations',
  access_billing: 'View plan and billing',
  manage_api_keys: 'Manage the team’s API keys',
} satisfies Readonly<Record<Permission, string>>);

/** Texts of lists of permissions, those of the product too. */
export const permissionsTexts = definePageTexts('permissions', {
  ofTeam: 'Team administration',
  permission: 'Permission',
  yes: 'Yes',
  no: 'No',
  sensitive: 'Sensitive',
  deprecated: 'Deprecated',
  search: 'Search permissions',
  none: 'No permission found.',
  count: '{count, plural, one {# permission} other {# permissions}}',
  selected: '{selected, number} of {count, number} selected',
});
