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

/** Files that run SQL text without a name, and how often. */
export const TEXTS: Counts = {
  'events/feed/erase.ts': 4,
  'events/feed/payloads.ts': 2,
  'events/partitions.ts': 7,
  'jobs/count-schemes.ts': 1,
  'jobs/email-context.ts': 2,
  'jobs/fail-email.ts': 2,
  'jobs/job-list.ts': 1,
  'jobs/notice-window.ts': 3,
  'jobs/notify.ts': 2,
  'jobs/run-cleanup.ts': 1,
  'jobs/send-account-email.ts': 5,
  'jobs/unused-keys.ts': 1,
  'jobs/waiting-emails.ts': 2,
  'resources/accounts/deletion.service.ts': 1,
  'resources/billing/seats.ts': 1,
  'resources/imports/batch.ts': 1,
  'resources/webhooks/deliveries.service.ts': 2,
  'service/demo.ts': 1,
  'service/open.ts': 1,
  'webhooks/claim.ts': 2,
  'webhooks/fan-out.ts': 6,
  'webhooks/note.ts': 3,
  'webhooks/queue.ts': 3,
};

/** Files that change rows of entities which they have not read, and how often. */
export const NATIVE_WRITES: Counts = {
  'resources/accounts/deletion.service.ts': 3,
  'resources/accounts/email-link-token.ts': 1,
  'resources/api-keys/rotation.service.ts': 2,
  'resources/oauth-clients/oauth-clients.service.ts': 2,
  'resources/operator-keys/operator-keys.service.ts': 2,
  'resources/pictures/pictures.service.ts': 1,
  'resources/sessions/known-devices.ts': 1,
  'resources/sign-in/prove-mailbox.ts': 3,
};
