type Counts = Readonly<Record<string, number>>;

/**
 * Files in which a statement changes rows alone: its condition is all that is checked. Those of the OAuth server and of what
 * was counted in memory, and what uses up a secret.
 */
export const ALONE: Counts = {
  'auth/key-uses.ts': 1,
  'auth/last-used.ts': 5,
  'events/record.ts': 2,
  'jobs/email-limits.ts': 1,
  'oauth/active-team.ts': 1,
  'oauth/artifacts.ts': 4,
  'oauth/clients.ts': 1,
  'oauth/requests.ts': 3,
  'oauth/tokens.ts': 6,
  'resources/imports/upload.service.ts': 3,
  'resources/invitations/decline.service.ts': 1,
  'resources/oauth-consent/first-party.service.ts': 2,
  'resources/openid/signing-keys.ts': 2,
  'resources/passkeys/ceremony.ts': 1,
  'resources/sessions/sessions.service.ts': 1,
  'resources/sign-in/sign-in.service.ts': 1,
  'transactions/change-at-once.ts': 1,
};

/**
 * Files that run SQL text without a name: the numbering of events, with what is erased beside it, and the deliveries of
 * webhooks have connections of their own, which prepare nothing; the names of partitions and the text of cleanups vary.
 */
export const TEXTS: readonly string[] = [
  'events/feed/erase.ts',
  'events/feed/payloads.ts',
  'events/partitions.ts',
  'jobs/run-cleanup.ts',
  'webhooks/claim.ts',
  'webhooks/fan-out.ts',
  'webhooks/note.ts',
  'webhooks/queue.ts',
];

/** What takes the place of a caller's right where nothing is required: `requires: 'nothing'`, by file, with its reason. */
const JOB = 'a job does the rest of what was allowed, and reads again what it needs';
const OPERATOR = 'whoever runs the process';
const PROVEN = 'a password, passkey or link that this change uses up';
const ANYBODY = 'what anybody may begin, under its own limits';
const OAUTH = 'the OAuth server has checked the client, code or token';
const LEAK = 'whoever holds the secret';

export const WITHOUT_RIGHT: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  'cli/team.ts': [1, OPERATOR],
  'demo/seed.ts': [1, OPERATOR],
  'jobs/count-schemes.ts': [1, JOB],
  'jobs/fail-email.ts': [1, JOB],
  'jobs/job-list.ts': [1, OPERATOR],
  'jobs/send-account-email.ts': [1, JOB],
  'jobs/send-invitation.ts': [2, JOB],
  'jobs/steps.ts': [1, JOB],
  'jobs/waiting-emails.ts': [1, JOB],
  'oauth/clients.ts': [1, ANYBODY],
  'oauth/grants.ts': [1, OAUTH],
  'oauth/tokens.ts': [1, OAUTH],
  'resources/accounts/email.service.ts': [1, PROVEN],
  'resources/imports/progress.ts': [2, JOB],
  'resources/imports/run.ts': [1, JOB],
  'resources/imports/upload-job.ts': [2, JOB],
  'resources/leaked-secrets/leaked-keys.service.ts': [1, LEAK],
  'resources/leaked-secrets/leaked-operator-keys.service.ts': [1, LEAK],
  'resources/leaked-secrets/leaked-tokens.service.ts': [1, LEAK],
  'resources/oauth-grants/exchange.service.ts': [1, OAUTH],
  'resources/openid/logout.service.ts': [
    2,
    'signing out takes no right: the session is the credential, or its id token',
  ],
  'resources/passkeys/passkeys.service.ts': [2, PROVEN],
  'resources/sign-in/invited-sign-up.service.ts': [1, PROVEN],
  'resources/sign-in/password.service.ts': [1, PROVEN],
  'resources/sign-in/remaining-access.ts': [1, PROVEN],
  'resources/sign-in/requested-link.ts': [2, ANYBODY],
  'resources/sign-in/sign-in-link.service.ts': [1, PROVEN],
  'resources/sign-in/sign-in.service.ts': [3, PROVEN],
  'resources/sign-in/sign-up.service.ts': [1, ANYBODY],
  'resources/sign-in/verification.service.ts': [1, PROVEN],
  'webhooks/note.ts': [1, JOB],
};
