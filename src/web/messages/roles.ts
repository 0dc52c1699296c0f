import type { Permission } from '../pages/team/team.ts';
import { isolateNames } from './isolate.ts';

/** Texts of the page about a team's roles. */
export const rolesTexts = isolateNames({
  title: 'Roles',
  explanation: 'A member’s role decides what they can do.',
  hidden: 'Your role does not let you see the roles of this team.',
  readOnly: 'Your role does not allow changing roles. Ask a member who can change the team’s settings.',
  builtIn: 'Built-in roles',
  own: 'Custom roles',
  yours: 'Your role',
  nothing: 'No permissions beyond membership.',
  emptyTitle: 'No custom roles yet',
  empty: 'Create a custom role if the built-in ones do not fit, for example for accounting.',
  emptyReadOnly: 'Every member has a built-in role.',
  noMembers: 'No members.',
  holders: (count: number) => (count === 1 ? '1 member' : `${count} members`),
  holdersOf: (role: string) => `Members with the role ${role}`,
  notActive: (member: string) => `${member} (not active)`,
  more: (count: number) => `and ${count} more.`,
  allMembers: 'See all members',
  beyond: 'It has permissions that you do not have, so you cannot change, delete or assign it.',

  create: 'Create role',
  submit: 'Create role',
  created: (role: string) => `Role ${role} created. Assign it to members or use it in invitations.`,
  edit: 'Edit',
  editOf: (role: string) => `Edit ${role}`,
  edited: (role: string) => `Role ${role} changed for all its members.`,
  name: 'Name',
  nameHint: 'Shown to members, for example Bookkeeper.',
  nameTaken: 'A role with this name exists. Choose another.',
  permissions: 'Permissions',
  notHeld: 'Not available: you can only grant permissions that you have.',
  editOwn: 'This is your own role: you lose every permission that you remove from it.',

  delete: 'Delete',
  deleteOf: (role: string) => `Delete ${role}`,
  deleteTitle: (role: string) => `Delete the role ${role}?`,
  deleteSubmit: 'Delete role',
  deleted: (role: string, replacement: string) => `Role ${role} deleted. Its members now have the role ${replacement}.`,
  moving: (members: number, invitations: number | null): string => {
    const people = members === 1 ? '1 member' : `${members} members`;
    if (invitations === null)
      return members === 0
        ? 'No member has this role. Pending invitations with it, if any, get the replacement.'
        : `${people} and all pending invitations with it get the replacement.`;
    const invited = invitations === 1 ? '1 pending invitation' : `${invitations} pending invitations`;
    if (members === 0 && invitations === 0) return 'No member and no pending invitation has this role.';
    if (invitations === 0) return `${people} ${members === 1 ? 'gets' : 'get'} the replacement.`;
    if (members === 0) return `${invited} ${invitations === 1 ? 'gets' : 'get'} the replacement.`;
    return `${people} and ${invited} get the replacement.`;
  },
  meanwhile: 'This also applies to members who get the role before it is deleted. This cannot be undone.',
  replacement: 'Replacement role',
  chooseReplacement: 'Choose a role',
  replacementGone: 'This role no longer exists. Choose another.',
  deleteOwn: 'This is your own role: you get the replacement too.',

  catalogue: {
    title: 'What each permission allows',
    explanation: 'A role can have any of these. The API uses the ids, also in error messages.',
    heldBy: (roles: string) => `Held by ${roles}`,
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
} as const);
