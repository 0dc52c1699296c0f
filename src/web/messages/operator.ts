import type { Outputs } from '../api-types.ts';
import { definePageTexts } from './define-page-texts.ts';

type Redis = Outputs['operator']['health']['redis'];

/** Texts of the operator's area. */
export const operatorTexts = definePageTexts('operator', {
  title: 'Operator',
  explanation: 'Accounts and teams of this deployment. Viewing user data is recorded in the audit log.',
  backToSearch: 'Back to search',
  webhooks: 'Webhooks of the installation',
  nameless: 'Account without a name',
  disabled: 'Disabled',
  isOperator: 'Operator',

  search: {
    label: 'Find accounts and teams',
    hint: 'Start of an email, team name or slug, or a complete ID.',
    submit: 'Search',
    found:
      '{accounts, plural, one {# account} other {# accounts}} and {teams, plural, one {# team} other {# teams}} found',
    accounts: 'Accounts',
    teams: 'Teams',
    first: 'Only the first {count, number} are shown. Enter more characters to narrow the search.',
    noneTitle: 'No results',
    none: 'No email, name or slug starts with “{sought}”, and no ID equals it. Text in the middle of a name is not searched.',
  },

  health: {
    title: 'Health',
    explanation: 'The process that served this page and its dependencies. Updated every 15 seconds.',
    version: 'Version',
    since: 'Running since',
    database: 'Database',
    databaseVersion: 'PostgreSQL {version}',
    latency: 'Responds in {milliseconds} ms.',
    redis: 'Redis',
    redisStates: {
      none: 'Not configured',
      reachable: 'Reachable',
      unreachable: 'Not reachable',
    } satisfies Readonly<Record<Redis, string>>,
    redisHints: {
      none: 'Each process counts requests separately.',
      reachable: 'All processes share one count of requests.',
      unreachable: 'Until it recovers, each process counts requests separately.',
    } satisfies Readonly<Record<Redis, string>>,
  },

  queue: {
    title: 'Queue',
    explanation: 'Emails and other background jobs.',
    waiting: 'Waiting',
    running: 'Running',
    failed: 'Retrying',
    failures: 'Recent failures',
    noFailures: 'No job has failed.',
    attempts: 'Attempt {attempts} of {max}',
    nextAt: 'next on {date}',
  },

  account: {
    title: 'Account',
    details: 'Details',
    detailsHint: 'Identity and dates.',
    id: 'ID',
    email: 'Email',
    noEmail: 'None',
    verified: 'Verified on {date}',
    unverified: 'Not verified',
    locale: 'Language and region',
    noLocale: 'Browser default',
    created: 'Created',
    credentials: 'Credentials',
    credentialsHint: 'Currently valid.',
    sessions: 'Sessions',
    keys: 'API keys',
    grants: 'Connected apps',
    teams: 'Teams',
    teamsHint: 'Memberships of the account.',
    noTeams: 'The account is not in a team.',
    moreTeams: '{count, plural, one {And # more team.} other {And # more teams.}}',
    inactive: 'Inactive',
  },

  access: {
    title: 'Access',
    allowed: 'The account is enabled.',
    disabledOn: 'Disabled on {date}.',
    own: 'You cannot disable your own account.',
    disable: 'Disable account…',
    disableTitle: 'Disable “{name}”?',
    disableExplanation: 'They can no longer sign in. These stop working immediately:',
    stops: {
      sessions: '{count, plural, one {# session, permanently} other {# sessions, permanently}}',
      keys: '{count, plural, one {# API key} other {# API keys}}',
      grants: '{count, plural, one {the access of # connected app} other {the access of # connected apps}}',
      nothing: 'No credentials are in use.',
    },
    stays: 'Teams and data are kept. Keys and apps work again once the account is enabled.',
    disableSubmit: 'Disable account',
    disabled: '“{name}” disabled. Their credentials no longer work.',
    enable: 'Enable account',
    enabled: '“{name}” enabled. Their keys and apps work again.',
    disabledHint: 'The user cannot sign in, and their keys and apps do not work.',
  },

  team: {
    title: 'Team',
    details: 'Details',
    detailsHint: 'Identity and owner.',
    id: 'ID',
    slug: 'Slug',
    created: 'Created',
    owner: 'Owner',
    noOwner: 'The team has no owner.',
    size: 'Members',
    sizeHint: 'Each active member and pending invitation uses a seat.',
    members: 'Members',
    invitations: 'Pending invitations',
    seats: 'Seats',
    seatsTaken: '{taken, number} of {total, number} used',
  },
});
