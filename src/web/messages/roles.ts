import type { Permission } from '../api-types.ts';
import { definePageTexts } from './define-page-texts.ts';

/** Texts of the page about a team's roles. */
export const rolesTexts = definePageTexts('roles', {
  title: 'Roles',
  explanation: 'A member’s role decides what they can do.',
  readOnly: 'Your role does not allow changing roles. Ask a member who can change the team’s settings.',
  builtIn: 'Built-in roles',
  own: 'Custom roles',
  yours: 'Your role',
  nothing: 'No additional permissions.',
  morePermissions: '{count, plural, one {and # more permission} other {and # more permissions}}',
  emptyTitle: 'No custom roles yet',
  empty: 'Create a custom role if the built-in ones do not fit, for example for accounting.',
  emptyReadOnly: 'Every member has a built-in role.',
  noMembers: 'No members.',
  holders: '{count, plural, one {# member} other {# members}}',
  holdersOf: 'Members with the role {role}',
  notActive: '{member} (not active)',
  more: 'and {count, number} more.',
  allMembers: 'See all members',
  beyond: 'It has permissions that you do not have, so you cannot change, delete or assign it.',

  create: 'Create role',
  submit: 'Create role',
  created: 'Role “{role}” created. Assign it to members or use it in invitations.',
  edit: 'Edit',
  editOf: 'Edit {role}',
  edited: 'Role “{role}” changed for all its members.',
  name: 'Name',
  nameHint: 'Shown to members, for example Bookkeeper.',
  nameTaken: 'A role with this name exists. Choose another.',
  permissions: 'Permissions',
  notHeld: 'Not available: you can only grant permissions that you have.',
  editOwn: 'This is your own role: you lose every permission that you remove from it.',

  delete: 'Delete',
  deleteOf: 'Delete {role}',
  deleteTitle: 'Delete the role “{role}”?',
  deleteSubmit: 'Delete role',
  deleted: 'Role “{role}” deleted. Its members now have the role “{replacement}”.',
  moving:
    '{members, plural, =0 {{invitations, plural, =0 {No member and no pending invitation has this role.} one {# pending invitation gets the replacement.} other {# pending invitations get the replacement.}}} one {{invitations, plural, =0 {1 member gets the replacement.} one {1 member and # pending invitation get the replacement.} other {1 member and # pending invitations get the replacement.}}} other {{invitations, plural, =0 {{members, number} members get the replacement.} one {{members, number} members and # pending invitation get the replacement.} other {{members, number} members and # pending invitations get the replacement.}}}}',
  movingMembers:
    '{members, plural, =0 {No member has this role. Pending invitations with it, if any, get the replacement.} one {# member and all pending invitations with it get the replacement.} other {# members and all pending invitations with it get the replacement.}}',
  meanwhile: 'This also applies to members who get the role before it is deleted. This cannot be undone.',
  replacement: 'Replacement role',
  chooseReplacement: 'Choose a role',
  replacementGone: 'This role no longer exists. Choose another.',
  deleteOwn: 'This is your own role: you get the replacement too.',

  catalogue: {
    title: 'What each permission allows',
    explanation: 'A role can have any of these. The API uses the ids, also in error messages.',
    heldBy: 'Held by {roles}',
    heldByNone: 'Held by no role',
    details: {
      edit_team_settings:
        'Rename the team, change its description and picture, create roles, and change members’ roles.',
      access_dashboard: 'View the team’s members and roles.',
      remove_members: 'Deactivate members and activate them again, limit how long they stay, and remove them.',
      invite_members: 'View pending invitations, invite people, resend and revoke invitations.',
      access_billing: 'View the team’s plan, status and add-ons. The operator changes them.',
      manage_api_keys: 'View, create, change and revoke the team’s API keys.',
    } satisfies Readonly<Record<Permission, string>>,
  },
});

/** Names of the built-in roles, by their names in English. No other role can have these names. */
export const systemRoleTexts = definePageTexts('systemRoles', { Owner: 'Owner', Member: 'Member', Guest: 'Guest' });
