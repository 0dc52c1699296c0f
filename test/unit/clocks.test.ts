import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

const RECORD = 'a record of when, which decides nothing: conditions only ask whether there is one';
const IDS = 'ids follow the clock of the process';
const PROTOCOL = 'a protocol that compares it with the clock of the process';
const EMAIL = 'the text of an email';
const ELAPSED = 'how long something takes in the process';
const IMPORT = 'the creation of imported rows, unless the row says another; their expiry is that of the row';

/** The files that read the clock of the process, each with the reason for which the time of the database is not needed. */
const READERS: Readonly<Record<string, string>> = {
  'auth/dpop.ts': PROTOCOL,
  'auth/key-uses.ts': 'the day of a statistic',
  'entities/account-token.ts': RECORD,
  'entities/account.ts': RECORD,
  'entities/api-key.ts': RECORD,
  'entities/base.ts': `${IDS}; ${RECORD}`,
  'entities/import-run.ts': RECORD,
  'entities/invitation.ts': RECORD,
  'entities/oauth-client.ts': RECORD,
  'entities/oauth-token.ts': RECORD,
  'entities/operator-key.ts': RECORD,
  'entities/ownership-transfer.ts': RECORD,
  'entities/picture.ts': RECORD,
  'entities/role-template.ts': RECORD,
  'entities/team.ts': RECORD,
  'jobs/notice-window.ts': EMAIL,
  'jobs/unused-keys.ts': EMAIL,
  'jobs/worker.ts': ELAPSED,
  'oauth/payload.ts': PROTOCOL,
  'resources/accounts/accounts.service.ts': RECORD,
  'resources/accounts/email.service.ts': RECORD,
  'resources/events/wait.ts': ELAPSED,
  'resources/imports/accounts.ts': IMPORT,
  'resources/imports/api-keys.ts': IMPORT,
  'resources/imports/memberships.ts': IMPORT,
  'resources/imports/team-roles.ts': IMPORT,
  'resources/imports/teams.ts': IMPORT,
  'resources/invitations/acceptance.service.ts': RECORD,
  'resources/members/history.queries.ts': IDS,
  'resources/members/members.service.ts': RECORD,
  'resources/openid/claims.ts': PROTOCOL,
  'resources/openid/send-logout.ts': PROTOCOL,
  'resources/sessions/start-session.ts': EMAIL,
  'resources/sign-in/invited-sign-up.service.ts': RECORD,
  'resources/sign-in/prove-mailbox.ts': RECORD,
  'resources/sign-in/remaining-access.ts': 'a token that only processes write and read, and no row',
  'resources/teams/ownership.service.ts': RECORD,
  'resources/teams/teams.service.ts': RECORD,
  'resources/webhooks/endpoints.service.ts': RECORD,
  'webhooks/attempt.ts': `${ELAPSED}; ${RECORD}`,
};

// Guarantees that what expires, and what SQL compares with now(), is not decided by a process: its clock can be wrong.
test('who reads the clock of the process has a reason', () => {
  const readers = globSync('{auth,entities,jobs,oauth,procedures,resources,transactions,webhooks}/**/*.ts', {
    cwd: SRC,
  })
    .filter((file) => /\bDate\.now\(\)|\bnew Date\(\)/.test(readFileSync(join(SRC, file), 'utf8')))
    .toSorted();
  expect(readers).toEqual(Object.keys(READERS).toSorted());
});
