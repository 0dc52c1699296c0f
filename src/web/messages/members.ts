import { isolateNames } from './isolate.ts';

/** Texts of the page about a team's members. */
export const membersTexts = isolateNames({
  title: 'Members',
  explanation: 'The members of the team, with role and status.',
  invite: 'Invite people',
  hidden: 'Your role does not let you see who is in this team.',
  alone: 'You are the only member. Invite people by email.',

  table: {
    search: 'Search by name or email',
    count: (count: number) => (count === 1 ? '1 member' : `${count} members`),
    found: (count: number, all: number) => `${count} of ${all} members`,
    noneFoundTitle: 'No results',
    noneFound: (search: string) => `No member’s name or email contains “${search}”, with the chosen filters.`,
    showAll: 'Show all members',
  },
  bulk: {
    role: {
      label: 'Change role…',
      title: (count: number) => `Change the role of ${count === 1 ? '1 member' : `${count} members`}`,
      explanation: 'All selected members get the same role.',
    },
    deactivate: {
      label: 'Deactivate',
      title: (count: number) => `Deactivate ${count === 1 ? '1 member' : `${count} members`}`,
      explanation: 'They cannot see the team, their keys for it do not work, and their seats become free.',
    },
    activate: {
      label: 'Activate',
      title: (count: number) => `Activate ${count === 1 ? '1 member' : `${count} members`}`,
      explanation: 'Each needs a free seat.',
    },
    remove: {
      label: 'Remove…',
      title: (count: number) => `Remove ${count === 1 ? '1 member' : `${count} members`}`,
      explanation:
        'They lose access immediately, and their API keys for the team and the access of their applications to it are revoked. To rejoin, they need a new invitation.',
    },
  },

  member: 'Member',
  email: 'Email',
  role: 'Role',
  state: 'Status',
  joined: 'Joined',
  actions: 'Actions',
  you: 'You',
  nameless: 'Member without a name',
  states: { active: 'Active', inactive: 'Inactive', expired: 'Expired' },
  until: (date: string) => `Until ${date}`,
  since: (date: string) => `Since ${date}`,

  actionsOf: (member: string) => `Actions for ${member}`,
  changeRole: 'Change role…',
  setExpiry: 'Set an end date…',
  changeExpiry: 'Change the end date…',
  removeExpiry: 'Remove the end date',
  deactivate: 'Deactivate',
  activate: 'Activate',
  offer: 'Offer ownership…',
  remove: 'Remove…',
  deactivated: (member: string) =>
    `${member} deactivated. They cannot see the team, their keys for it do not work, and their seat is free.`,
  activated: (member: string) => `${member} activated.`,
  saving: (member: string) => `Saving the change of ${member}…`,
  undone: (member: string) => `${member} was not changed.`,

  roleTitle: (member: string) => `Change the role of ${member}`,
  roleChoice: 'Role',
  roleOthers: 'Roles with more permissions than yours are not listed.',
  roleSubmit: 'Change role',
  roleChanged: (member: string, role: string) => `Role of ${member} changed to ${role}.`,
  noPermissions: 'No permissions beyond membership',

  expiryTitle: (member: string) => `Set an end date for ${member}`,
  expiryExplanation:
    'After the last day they cannot see the team, and their keys for it do not work. They stay in this list.',
  expiryDay: 'Last day',
  expiryHint: 'The membership ends at midnight, in your time zone.',
  expirySet: (member: string, date: string) => `Membership of ${member} ends after ${date}.`,
  expiryRemoved: (member: string) => `End date of ${member} removed.`,

  removeTitle: (member: string) => `Remove ${member}?`,
  removeExplanation: 'They lose access immediately. To rejoin, they need a new invitation.',
  removeStops: 'This also revokes:',
  removeStopsNothing: 'They have no team API keys, and no application can access the team through them.',
  removeKey: (name: string, last4: string) => `The API key ${name} (…${last4})`,
  removeApplications: (count: number) =>
    count === 1 ? 'The access of 1 application' : `The access of ${count} applications`,
  removeOffer: 'Your offer of ownership to them',
  removeOfferOfOwner: 'The owner’s offer of ownership to them',
  removeSubmit: 'Remove member',
  removed: (member: string) => `${member} removed.`,

  ownership: {
    title: 'Ownership',
    explanation: 'A team has exactly one owner, who has all permissions. You can offer ownership to a member.',
    none: 'To offer ownership, choose “Offer ownership…” in the actions of an active member.',
    alone: 'There is no other active member to offer ownership to.',
    pending: (member: string, date: string) => `Offered to ${member}. They can accept until ${date}.`,
    pendingHint: 'You stay the owner until they accept.',
    withdraw: 'Withdraw offer',
    withdrawn: 'Offer withdrawn.',
    offerTitle: (member: string) => `Offer ownership to ${member}?`,
    offerExplanation:
      'They get an email and have 7 days to accept. Until then nothing changes, and you can withdraw the offer.',
    consequences: 'If they accept:',
    becomeOwner: (member: string, team: string) =>
      `${member} becomes the owner of ${team}, with all permissions, including to delete it.`,
    becomeMember: 'You become a member with the role Member, and cannot take ownership back.',
    keepKeys: 'API keys that you created for the team keep working.',
    replaces: (member: string) => `The offer to ${member} is withdrawn.`,
    offerSubmit: 'Offer ownership',
    offered: (member: string) => `Ownership offered to ${member}.`,
    offeredTitle: (team: string) => `You can become the owner of ${team}`,
    offeredText: (date: string) =>
      `The owner offers you this team until ${date}. If you accept, you get all permissions, including to delete it, and the present owner becomes a member with the role Member. If you decline, nothing changes.`,
    accept: 'Accept…',
    acceptOf: (team: string) => `Accept ownership of ${team}`,
    decline: 'Decline',
    declineOf: (team: string) => `Decline ownership of ${team}`,
    acceptTitle: (team: string) => `Become the owner of ${team}?`,
    acceptExplanation:
      'You become responsible for the team: its members, settings and plan. To leave it later, transfer ownership to another member or delete the team.',
    acceptSubmit: 'Become owner',
    accepted: (team: string) => `You are now the owner of ${team}.`,
    declined: (team: string) => `Ownership of ${team} declined.`,
  },
} as const);
