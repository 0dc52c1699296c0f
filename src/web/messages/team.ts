import { definePageTexts } from './define-page-texts.ts';

/** Texts of a team's frame. */
export const teamTexts = definePageTexts('team', {
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
});

/** Texts of a team's first page. */
export const overviewTexts = definePageTexts('overview', {
  title: 'Overview',
  hiddenTitle: 'Your role has limited access',
  hidden:
    'The role “{role}” cannot view members and roles. To see more, ask a member who manages the team for another role.',
  members: 'Members',
  membersHint: '{count, plural, =1 {only you} other {active}}',
  invitations: 'Invitations',
  invitationsHint: '{count, plural, =0 {none pending} other {pending}}',
  apiKeys: 'API keys',
  apiKeysHint: '{count, plural, =0 {none yet} other {created for the team}}',
  plan: 'Plan: {plan}',
  seats: 'Seats',
  seatsBar: 'Used seats',
  taken: '{taken, number} of {seats, number} used',
  seatsHint:
    '{free, plural, =0 {All seats are used. Free a seat to invite more people.} one {One more person can be invited.} other {# more people can be invited.}}',
  overSeats:
    '{over, plural, one {One seat more is used than the plan has. Free it, or change the plan, to invite people.} other {# seats more are used than the plan has. Free them, or change the plan, to invite people.}}',
  fewSeatsTitle: '{free, plural, =0 {No seats are left} one {# seat is left} other {# seats are left}}',
  fewSeats: 'To add more people, free seats or change the plan.',
  usage: {
    title: 'Requests',
    explanation: 'Of the team’s API keys, by day (UTC).',
  },
  growth: {
    title: 'Members over time',
    explanation: 'Also inactive members, at the end of each day (UTC).',
    change: '{first, number} → {last, plural, one {# member} other {# members}}',
    bar: '{day}: {members, number}',
    caption: 'Members by day (UTC)',
    day: 'Day',
    members: 'Members',
  },
  activity: {
    title: 'Recent activity',
    explanation: 'The newest changes and denied requests of the team.',
    none: 'Nothing has happened yet.',
    all: 'Go to the audit log',
  },
  first: {
    title: 'First steps',
    explanation: 'You are the only member. Suggested next steps:',
    progress: '{done, number} of {all, number} done',
    done: 'Done',
    created: 'Create the team',
    invite: 'Invite people',
    inviteHint: 'They get a link by email and join with the role that you choose.',
    key: 'Create an API key',
    keyHint: 'A team key lets a script or service access only this team.',
    keyLink: 'Go to API keys',
    try: 'With a key that can read teams, this command returns the team:',
    curl: 'Try the key',
    dismiss: 'Hide first steps',
    dismissed: 'First steps hidden.',
  },
});
