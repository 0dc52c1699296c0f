import { inChange } from '../support/in-change.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ATTEMPTS_MAX, enqueue } from '../../src/jobs/enqueue.ts';
import { startDroppingServer, type Step } from './dropping-server.ts';
import { eventually, install, levelOf, mailServer, parse } from './installation.ts';

async function installWith(step: Step, answer?: string) {
  const server = await startDroppingServer(step, answer);
  onTestFinished(server.close);
  const roster = await install({ smtpUrl: server.url });
  const team = await roster.aTeam();
  const invitationId = await roster.invite(team, 'bob@example.com');
  return { server, roster, team, invitationId };
}

const failureOf = async (roster: Awaited<ReturnType<typeof install>>, invitationId: string) =>
  roster.rows<{ failure: string | null }>(
    'select email_failure as failure from invitation_link where invitation_id = $1',
    [invitationId],
  );

describe('a mail server that closes the connection', () => {
  test.each<Step>(['greeting', 'EHLO', 'MAIL FROM', 'RCPT TO', 'DATA', 'body'])(
    'at %s gets the email once, with the next attempt',
    async (step) => {
      const { server, roster } = await installWith(step);
      await roster.work();
      await eventually(async () => expect(await roster.jobs()).toMatchObject([{ attempts: 1, locked_at: null }]));
      expect(server.accepted).toEqual([]);

      await roster.runJobsNow();

      await eventually(async () => expect(await roster.jobs()).toEqual([]));
      expect(server.accepted).toHaveLength(1);
    },
  );

  // The one repetition that SMTP cannot avoid (RFC 5321 §4.2.5, RFC 1047): docs/guarantees.md names it.
  test('after it has stored the email gets it again, under the same Message-ID', async () => {
    const { server, roster } = await installWith('accepted');
    await roster.work();
    await eventually(async () => expect(await roster.jobs()).toMatchObject([{ attempts: 1, locked_at: null }]));

    await roster.runJobsNow();

    await eventually(async () => expect(await roster.jobs()).toEqual([]));
    expect(server.accepted).toHaveLength(2);
    const ids = await Promise.all(server.accepted.map(async (raw) => (await parse(raw)).messageId));
    expect(ids[0]).toMatch(/^<[0-9a-f]{32}@localhost>$/);
    expect(ids[1]).toBe(ids[0]);
  });
});

describe('a mail server that rejects the email permanently', () => {
  test.each<[Step, string]>([
    ['RCPT TO', '550 5.1.1 No such mailbox'],
    ['RCPT TO', '553 Address not allowed'],
    ['DATA', '554 Not wanted'],
    ['accepted', '554 5.7.1 Looks like spam'],
  ])('at %s with %s ends the job at once, with an event and for the inviter to see', async (step, answer) => {
    const { server, roster, team, invitationId } = await installWith(step, answer);

    await roster.work();

    await eventually(async () => expect(await roster.jobs()).toEqual([]));
    expect(server.attempts()).toBe(1);
    expect(server.accepted).toEqual([]);
    expect(await failureOf(roster, invitationId)).toEqual([{ failure: 'rejected' }]);
    expect(
      await roster.rows(
        `select team_id, target_id, actor_kind from audit_event where event = 'invitation.email_failed'`,
      ),
    ).toEqual([{ team_id: team.id, target_id: invitationId, actor_kind: 'system' }]);
    expect(levelOf(roster.lines, 'email failed permanently')).toBe(50);
    expect(await roster.rows('select from sent_mail')).toEqual([]);

    // A new link is a new start.
    await roster.invite(team, 'bob@example.com');
    await eventually(async () => expect(await roster.jobs()).toEqual([]));
    expect(server.accepted).toHaveLength(1);
    expect(await failureOf(roster, invitationId)).toEqual([{ failure: null }]);
  });

  test.each<[Step, string]>([
    ['greeting', '554 No service for you'],
    ['MAIL FROM', '550 Sender not allowed'],
    ['RCPT TO', '530 5.7.0 Authentication required'],
    ['RCPT TO', '451 Greylisted'],
    ['accepted', '452 Out of storage'],
  ])('at %s with %s concerns the server or passes, so the email is retried', async (step, answer) => {
    const { server, roster, invitationId } = await installWith(step, answer);
    await roster.work();
    await eventually(async () => expect(await roster.jobs()).toMatchObject([{ attempts: 1, locked_at: null }]));

    await roster.runJobsNow();

    await eventually(async () => expect(await roster.jobs()).toEqual([]));
    expect(server.accepted).toHaveLength(1);
    expect(await failureOf(roster, invitationId)).toEqual([{ failure: null }]);
  });
});

test('retries end within a day', () => {
  // The queue waits exp(min(10, attempts)) seconds after each attempt.
  const waits = Array.from({ length: ATTEMPTS_MAX - 1 }, (_, index) => Math.exp(Math.min(10, index + 1)));
  const hours = waits.reduce((sum, seconds) => sum + seconds, 0) / 3600;
  expect(hours).toBeGreaterThan(18);
  expect(hours).toBeLessThan(26);
});

test('a job of an earlier version with more attempts ends with the same number', async () => {
  const { roster, invitationId } = await installWith('RCPT TO', '451 Later');
  await roster.rows('update graphile_worker._private_jobs set attempts = $1, max_attempts = 25', [ATTEMPTS_MAX - 1]);

  await roster.work();

  await eventually(async () => expect(await roster.jobs()).toEqual([]));
  expect(await failureOf(roster, invitationId)).toEqual([{ failure: 'unreachable' }]);
});

// Guarantees that neither an encrypted token stays in the database nor an inviter waits for nothing.
test('an email whose worker was killed during the last attempt fails like any other', async () => {
  const { roster, invitationId } = await installWith('body');
  await roster.rows('update graphile_worker._private_jobs set attempts = max_attempts');
  await roster.rows(`select graphile_worker.add_job('recover_jobs')`);

  await roster.work();

  await eventually(async () => expect(await roster.jobs()).toEqual([]));
  expect(await failureOf(roster, invitationId)).toEqual([{ failure: 'unreachable' }]);
});

// Guarantees that a person who waits for a link does not wait for a queue of invitations.
test('a notice leaves with the first emails although eight invitations were queued before it', async () => {
  const server = await mailServer();
  const roster = await install({ smtpUrl: server.url });
  for (const team of [await roster.aTeam(), await roster.aTeam()]) {
    for (const n of [1, 2, 3, 4]) await roster.invite(team, `${team.id}-${n}@example.com`);
  }
  const { id: accountId, email: to } = await roster.anAccount();
  await inChange(roster.services.db, (tx) =>
    enqueue(tx, 'sendAccountMail', { accountId, to, kind: 'password_changed' }, 'a notice'),
  );
  const release = Promise.withResolvers<void>();
  server.answerWith(...Array.from({ length: 9 }, () => () => release.promise));

  await roster.work();
  await eventually(() => expect(server.arriving()).toBe(4)); // all that a worker sends at a time
  const waiting = await roster.jobs();
  release.resolve();

  await eventually(() => expect(server.mails).toHaveLength(9));
  expect(waiting.filter(({ locked_at }) => locked_at === null)).toHaveLength(5);
  const first = await Promise.all(server.mails.slice(0, 4).map(async (raw) => (await parse(raw)).to?.[0]?.address));
  expect(first).toContain(to);
});
