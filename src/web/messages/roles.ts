import type { Permission } from '../pages/team/team.ts';

/** The words of the page about a team's roles. */
export const rolesTexts = {
  title: 'Roles',
  explanation: 'What a member may do is decided by the role they hold.',
  hidden: 'Your role does not let you see the roles of this team.',
  readOnly: 'Your role does not allow changing roles. Ask somebody whose role may change the team’s settings.',
  builtIn: 'Built-in roles',
  own: 'The team’s own roles',
  yours: 'Your role',
  nothing: 'Is a member of the team, and may do nothing else.',
  emptyTitle: 'The team has no roles of its own',
  empty: 'Make one where the built-in roles give too much or too little, such as for whoever keeps the books.',
  emptyReadOnly: 'Everybody holds one of the built-in roles.',
  nobody: 'Nobody holds it.',
  holders: (count: number) => (count === 1 ? '1 member' : `${count} members`),
  holdersOf: (role: string) => `Who holds ${role}`,
  notActive: (member: string) => `${member} (not active)`,
  more: (count: number) => `and ${count} more.`,
  allMembers: 'See all members',
  beyond: 'It holds more than your role does, so that you cannot change, delete or give it.',

  create: 'Create a role',
  submit: 'Create the role',
  created: (role: string) => `The role ${role} is there. Give it to members, or invite people to it.`,
  edit: 'Edit',
  editOf: (role: string) => `Edit ${role}`,
  edited: (role: string) => `The role ${role} is changed, for everybody who holds it.`,
  name: 'Name',
  nameHint: 'What the members see, such as Bookkeeper.',
  nameTaken: 'The team has a role of that name. Choose another.',
  permissions: 'What may its members do?',
  notHeld: 'Not offered: you can give only what your own role holds.',
  editOwn: 'You hold this role yourself: what you take away from it, you lose as well.',

  delete: 'Delete',
  deleteOf: (role: string) => `Delete ${role}`,
  deleteTitle: (role: string) => `Delete the role ${role}?`,
  deleteSubmit: 'Delete the role',
  deleted: (role: string, replacement: string) => `The role ${role} is deleted. Whoever held it is ${replacement} now.`,
  moving: (members: number, invitations: number | null): string => {
    const people = members === 1 ? '1 member' : `${members} members`;
    if (invitations === null)
      return members === 0
        ? 'Nobody holds it. Pending invitations to it, if there are any, get the replacement.'
        : `${people} and all pending invitations to it get the replacement.`;
    const invited = invitations === 1 ? '1 pending invitation' : `${invitations} pending invitations`;
    if (members === 0 && invitations === 0) return 'Nobody holds it, and no invitation is pending.';
    if (invitations === 0) return `${people} ${members === 1 ? 'gets' : 'get'} the replacement.`;
    if (members === 0) return `${invited} ${invitations === 1 ? 'gets' : 'get'} the replacement.`;
    return `${people} and ${invited} get the replacement.`;
  },
  meanwhile: 'So does whoever is given the role before it is deleted. This cannot be undone.',
  replacement: 'Replacement',
  chooseReplacement: 'Choose a role',
  replacementGone: 'This role is not there any more. Choose another.',
  deleteOwn: 'You hold this role yourself, and get the replacement too.',

  catalogue: {
    title: 'What each permission allows',
    explanation: 'A role holds any of these. The ids are those of the API, which its refusals name too.',
    heldBy: (roles: string) => `Held by ${roles}`,
    details: {
      edit_team_settings:
        'Rename the team, change its description and picture, make roles, and give other roles to members.',
      access_dashboard: 'See the team’s pages, with its members and roles.',
      remove_members: 'Deactivate members and activate them again, limit how long they stay, and remove them.',
      invite_members: 'See pending invitations, invite people, send invitations again, and revoke them.',
      access_billing: 'See the team’s plan, its status and its add-ons. Nobody can change them here.',
      manage_api_keys: 'See, create, change and revoke the keys that programs use in the team’s name.',
    } satisfies Readonly<Record<Permission, string>>,
  },
} as const;
