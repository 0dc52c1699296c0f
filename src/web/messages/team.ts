import { isolateNames } from './isolate.ts';

/** Texts of a team's frame. */
export const teamTexts = isolateNames({
  failedTitle: 'This team could not be shown',
  goneTitle: 'You cannot see this team',
  gone: 'It does not exist, or you are not an active member. To get access, ask a member who manages the team.',
  navigation: 'Team',
  switch: 'Team',
  overview: 'Overview',
  members: 'Members',
  invitations: 'Invitations',
  roles: 'Roles',
  apiKeys: 'API keys',
  billing: 'Billing',
  webhooks: 'Webhooks',
  audit: 'Audit log',
  settings: 'Settings',
} as const);

/** Texts of a team's first page. */
export const overviewTexts = isolateNames({
  title: 'Overview',
  hiddenTitle: 'Your role has limited access',
  hidden: (role: string) =>
    `The role ${role} cannot view members and roles. To see more, ask a member who manages the team for another role.`,
  members: 'Members',
  membersHint: (count: number) => (count === 1 ? 'only you' : 'active'),
  invitations: 'Invitations',
  invitationsHint: (count: number) => (count === 0 ? 'none pending' : 'pending'),
  apiKeys: 'API keys',
  apiKeysHint: (count: number) => (count === 0 ? 'none yet' : 'created for the team'),
  plan: 'Plan',
  planHint: (seats: number) => (seats === 1 ? 'with 1 seat' : `with ${seats} seats`),
  seats: 'Seats',
  seatsBar: 'Used seats',
  taken: (taken: number, seats: number) => `${taken} of ${seats} used`,
  seatsHint: (free: number): string => {
    if (free > 0) return free === 1 ? 'One more person can be invited.' : `${free} more people can be invited.`;
    return 'All seats are used. Free a seat to invite more people.';
  },
  first: {
    title: 'First steps',
    explanation: 'You are the only member. Suggested next steps:',
    done: 'Done',
    invite: 'Invite people',
    inviteHint: 'They get a link by email and join with the role that you choose.',
    inviteLink: 'Go to invitations',
    key: 'Create an API key',
    keyHint: 'A team key lets a script or service access only this team.',
    keyLink: 'Go to API keys',
    try: 'With a key that can read teams, this command returns the team:',
    curl: 'Try the key',
  },
} as const);
