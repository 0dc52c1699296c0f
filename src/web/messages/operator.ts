import type { Outputs } from '../trpc.ts';
import { isolateNames } from './isolate.ts';

type Redis = Outputs['operator']['health']['redis'];

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

/** Texts of the operator's area. */
export const operatorTexts = isolateNames({
  title: 'Operator',
  explanation: 'Accounts and teams of this deployment. Viewing user data is recorded in the audit log.',
  notAllowedTitle: 'This page is for operators',
  notAllowed: 'Your account does not have the operator role.',
  backToSearch: 'Back to search',
  webhooks: 'Webhooks of the installation',
  nameless: 'Account without a name',
  disabled: 'Disabled',
  isOperator: 'Operator',

  search: {
    label: 'Find accounts and teams',
    hint: 'Start of an email, team name or slug, or a complete ID.',
    submit: 'Search',
    found: (accounts: number, teams: number) =>
      `${counted(accounts, 'account', 'accounts')} and ${counted(teams, 'team', 'teams')} found`,
    accounts: 'Accounts',
    teams: 'Teams',
    first: (count: number) => `Only the first ${count} are shown. Enter more characters to narrow the search.`,
    noneTitle: 'No results',
    none: (sought: string) =>
      `No email, name or slug starts with “${sought}”, and no ID equals it. Text in the middle of a name is not searched.`,
  },

  health: {
    title: 'Health',
    explanation: 'The process that served this page and its dependencies. Updated every 15 seconds.',
    version: 'Version',
    since: 'Running since',
    database: 'Database',
    databaseVersion: (version: string) => `PostgreSQL ${version}`,
    latency: (milliseconds: number) => `Responds in ${milliseconds} ms.`,
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
    attempts: (attempts: number, max: number) => `Attempt ${attempts} of ${max}`,
    nextAt: (date: string) => `next on ${date}`,
  },

  account: {
    title: 'Account',
    details: 'Details',
    detailsHint: 'Identity and dates.',
    id: 'ID',
    email: 'Email',
    noEmail: 'None',
    verified: (date: string) => `Verified on ${date}`,
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
    moreTeams: (count: number) => `And ${counted(count, 'more team', 'more teams')}.`,
    inactive: 'Inactive',
  },

  access: {
    title: 'Access',
    allowed: 'The account is enabled.',
    disabledOn: (date: string) => `Disabled on ${date}.`,
    own: 'You cannot disable your own account.',
    disable: 'Disable account…',
    disableTitle: (name: string) => `Disable ${name}?`,
    disableExplanation: 'They can no longer sign in. These stop working immediately:',
    stops: {
      sessions: (count: number) => `${counted(count, 'session', 'sessions')}, permanently`,
      keys: (count: number) => counted(count, 'API key', 'API keys'),
      grants: (count: number) => `the access of ${counted(count, 'connected app', 'connected apps')}`,
      nothing: 'No credentials are in use.',
    },
    stays: 'Teams and data are kept. Keys and apps work again once the account is enabled.',
    disableSubmit: 'Disable account',
    disabled: (name: string) => `${name} disabled. Their credentials no longer work.`,
    enable: 'Enable account',
    enabled: (name: string) => `${name} enabled. Their keys and apps work again.`,
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
    seatsTaken: (taken: number, total: number) => `${taken} of ${total} used`,
    plan: 'Plan',
    noSubscription: 'No subscription',
  },
} as const);
