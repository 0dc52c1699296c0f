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
