/** The words of a team's frame. */
export const teamTexts = {
  failedTitle: 'This team could not be shown',
  goneTitle: 'You cannot see this team',
  gone: 'It does not exist, or you are not an active member of it. If you should be, ask somebody who manages the team.',
  navigation: 'Team',
  switch: 'Team',
  overview: 'Overview',
  members: 'Members',
  invitations: 'Invitations',
  roles: 'Roles',
  apiKeys: 'API keys',
  billing: 'Billing',
  audit: 'Audit log',
  settings: 'Settings',
} as const;

/** The words of a team's first page. */
export const overviewTexts = {
  title: 'Overview',
  hiddenTitle: 'Your role shows you little of this team',
  hidden: (role: string) =>
    `As ${role}, you do not see its members and roles. Ask somebody who manages the team for another role, if you need to.`,
  members: 'Members',
  membersHint: (count: number) => (count === 1 ? 'nobody else yet' : 'active'),
  invitations: 'Invitations',
  invitationsHint: (count: number) => (count === 0 ? 'none pending' : 'pending'),
  apiKeys: 'API keys',
  apiKeysHint: (count: number) => (count === 0 ? 'none yet' : 'made for the team'),
  plan: 'Plan',
  planHint: (seats: number) => (seats === 1 ? 'with 1 seat' : `with ${seats} seats`),
  seats: 'Seats',
  seatsBar: 'Seats that are taken',
  taken: (taken: number, seats: number) => `${taken} of ${seats} taken`,
  seatsHint: (free: number): string => {
    if (free > 0) return free === 1 ? 'One more person can be invited.' : `${free} more people can be invited.`;
    return 'Nobody can be invited until a seat is free.';
  },
  first: {
    title: 'First steps',
    explanation: 'You are alone in this team. These are good things to begin with.',
    done: 'Done',
    invite: 'Invite somebody',
    inviteHint: 'They get a link by e-mail, and join with the role that you choose.',
    inviteLink: 'Go to the invitations',
    key: 'Make an API key',
    keyHint: 'It lets a script or a service work with this team, and with nothing else of yours.',
    keyLink: 'Go to the API keys',
    try: 'With a key that may see teams, this reads the team:',
    curl: 'Try the key',
  },
} as const;
