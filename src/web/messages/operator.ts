import type { Outputs } from '../trpc.ts';

type Redis = Outputs['operator']['health']['redis'];

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

/** The words of the operator's area. */
export const operatorTexts = {
  title: 'Operator',
  explanation: 'Accounts and teams of this installation. Whenever you look at somebody’s data, the log says so.',
  refusedTitle: 'This page is for operators',
  refused: 'Operators of this installation look after accounts and teams here. Your account is not one of theirs.',
  backToSearch: 'Back to the search',
  nameless: 'Account without a name',
  disabled: 'Disabled',
  isOperator: 'Operator',

  search: {
    label: 'Find an account or a team',
    hint: 'The beginning of an e-mail address, of a team’s name or of its slug; or a whole id.',
    submit: 'Search',
    found: (accounts: number, teams: number) =>
      `${counted(accounts, 'account', 'accounts')} and ${counted(teams, 'team', 'teams')} found`,
    accounts: 'Accounts',
    teams: 'Teams',
    first: (count: number) => `These are the first ${count}. For others, write more of what you look for.`,
    noneTitle: 'Nothing found',
    none: (sought: string) =>
      `No address, name or slug begins with “${sought}”, and it is no id. Words from the middle of a name are not found.`,
  },

  health: {
    title: 'Health',
    explanation: 'The process that answers you, and what it works with. Looked at again every 15 seconds.',
    version: 'Version',
    since: 'Running since',
    database: 'Database',
    databaseVersion: (version: string) => `PostgreSQL ${version}`,
    latency: (milliseconds: number) => `Answers in ${milliseconds} ms.`,
    redis: 'Redis',
    redisStates: {
      none: 'Not configured',
      reachable: 'Reachable',
      unreachable: 'Not reachable',
    } satisfies Readonly<Record<Redis, string>>,
    redisHints: {
      none: 'Each process counts requests by itself.',
      reachable: 'All processes count requests together.',
      unreachable: 'Until it is back, each process counts requests by itself.',
    } satisfies Readonly<Record<Redis, string>>,
  },

  queue: {
    title: 'Queue',
    explanation: 'Mails to be sent, and other work in the background.',
    waiting: 'Waiting',
    running: 'Running',
    failed: 'To be retried',
    failures: 'What failed last',
    noFailures: 'No job has failed.',
    attempts: (attempts: number, max: number) => `Attempt ${attempts} of ${max}`,
    nextAt: (date: string) => `next on ${date}`,
  },

  account: {
    title: 'Account',
    details: 'Details',
    detailsHint: 'Who it is, and since when.',
    id: 'Id',
    email: 'E-mail address',
    noEmail: 'None',
    verified: (date: string) => `Verified on ${date}`,
    unverified: 'Not verified',
    locale: 'Language and region',
    noLocale: 'As the browser',
    created: 'Created',
    credentials: 'Credentials',
    credentialsHint: 'Those that are valid now.',
    sessions: 'Sessions',
    keys: 'API keys',
    grants: 'Connected apps',
    teams: 'Teams',
    teamsHint: 'Where it is a member.',
    noTeams: 'The account is in no team.',
    moreTeams: (count: number) => `And ${counted(count, 'more team', 'more teams')}.`,
    inactive: 'Inactive',
  },

  access: {
    title: 'Access',
    allowed: 'The account can be used.',
    disabledOn: (date: string) => `Disabled on ${date}.`,
    own: 'This is your own account, which you cannot disable.',
    disable: 'Disable the account…',
    disableTitle: (name: string) => `Disable ${name}?`,
    disableExplanation: 'They cannot sign in any more. From the next request on, this stops working:',
    stops: {
      sessions: (count: number) => `${counted(count, 'session', 'sessions')}, which end for good`,
      keys: (count: number) => counted(count, 'API key', 'API keys'),
      grants: (count: number) => `the access of ${counted(count, 'connected app', 'connected apps')}`,
      nothing: 'Nothing is in use at the moment.',
    },
    stays: 'Teams and data stay as they are. Keys and apps work again once the account is enabled.',
    disableSubmit: 'Disable',
    disabled: (name: string) => `${name} is disabled: nothing of theirs is accepted any more.`,
    enable: 'Enable the account',
    enabled: (name: string) => `${name} can sign in again, and their keys and apps work.`,
    disabledHint: 'They cannot sign in, and their keys and apps are refused.',
  },

  team: {
    title: 'Team',
    details: 'Details',
    detailsHint: 'Which team it is, and whose.',
    id: 'Id',
    slug: 'Slug',
    created: 'Created',
    owner: 'Owner',
    noOwner: 'The team has no owner.',
    size: 'Members',
    sizeHint: 'Active members and pending invitations take a seat each.',
    members: 'Members',
    invitations: 'Pending invitations',
    seats: 'Seats',
    seatsTaken: (taken: number, total: number) => `${taken} of ${total} taken`,
    plan: 'Plan',
    noSubscription: 'No subscription',
  },
} as const;
