import { expect, test } from 'vitest';
import { ATTEMPTS_MAX } from '../../src/jobs/enqueue.ts';
import { rosterOfItsOwn } from './roster.ts';

const roster = await rosterOfItsOwn();

type Email = { id: string; kind: string; subjectId: string; state: string; attempts: number; lastError: string | null };

/** Queues an invitation's email and a notice, the second of which has failed once. */
async function queueTwo() {
  const owner = await roster.account();
  const team = await roster.team(owner);
  const invitationId = `invt_${team.id}`;
  await roster.rows(
    `insert into invitation (id, team_id, email, role_id, created_at, expires_at)
     values ($1, $2, 'bob@example.com', 'member', now(), now() + interval '7 days')`,
    [invitationId, team.id],
  );
  await roster.rows(
    `insert into invitation_link (token_hash, invitation_id, created_at, proves_mailbox) values (convert_to($1, 'utf8'), $1, now(), true)`,
    [invitationId],
  );
  for (const [task, payload] of [
    ['sendInvitation', { invitationId, sealedToken: 'secret-token' }],
    ['sendAccountMail', { accountId: owner.id, to: owner.email, kind: 'password_changed' }],
  ] as const) {
    await roster.rows(
      `select graphile_worker.add_job($1, $2::json, job_key := $3, run_at := now() + interval '1 hour')`,
      [task, JSON.stringify(payload), `${task} ${team.id}`],
    );
  }
  await roster.rows(
    `update graphile_worker._private_jobs set attempts = 3, last_error = 'ECONNREFUSED' where key = $1`,
    [`sendAccountMail ${team.id}`],
  );
  return { owner, team, invitationId };
}

const events = (event: string) =>
  roster.rows<{ actor_kind: string; target_id: string | null; reason: string | null }>(
    `select actor_kind, target_id, details->>'reason' as reason from audit_event where event = $1`,
    [event],
  );

test('an operator sees what waits, sends it now, and empties the queue', async () => {
  const { owner, invitationId } = await queueTwo();
  // Neither a scheduled job nor one that was replaced is an email that waits.
  await roster.rows(`select graphile_worker.add_job('recover_jobs', job_key := 'recover_jobs')`);
  await roster.rows(`select graphile_worker.add_job('sendInvitation', '{}')`);

  const { stdout } = await roster.run('queue', 'list');
  expect(stdout).not.toMatch(/example\.com|secret-token/);
  const [first, second, ...others] = await roster.json<Email[]>('queue', 'list');
  expect(others).toEqual([]);
  expect(first).toMatchObject({ kind: 'invitation', subjectId: invitationId, state: 'waiting', attempts: 0 });
  expect(second).toMatchObject({
    kind: 'password_changed',
    subjectId: owner.id,
    state: 'retrying',
    attempts: 3,
    lastError: 'ECONNREFUSED',
  });

  expect(await roster.json('queue', 'retry', '--id', second?.id ?? '')).toEqual({ count: 1 });
  expect(
    await roster.rows(
      'select attempts::int, max_attempts::int, run_at <= now() as is_due from graphile_worker.jobs where id = $1',
      [second?.id],
    ),
  ).toEqual([{ attempts: 0, max_attempts: ATTEMPTS_MAX, is_due: true }]);
  expect(await events('operator.emails_retried')).toMatchObject([{ actor_kind: 'operator_cli' }]);

  // An email that is being sent is left alone.
  await roster.rows(`update graphile_worker._private_jobs set locked_at = now(), locked_by = 'w' where id = $1`, [
    second?.id,
  ]);
  expect(await roster.json('queue', 'remove', '--all')).toEqual({ count: 1 });
  expect(await roster.json<Email[]>('queue', 'list')).toMatchObject([{ id: second?.id, state: 'sending' }]);
  expect(await events('invitation.email_failed')).toEqual([
    { actor_kind: 'operator_cli', target_id: invitationId, reason: 'removed' },
  ]);
  expect(
    await roster.rows('select email_failure from invitation_link where invitation_id = $1', [invitationId]),
  ).toEqual([{ email_failure: 'removed' }]);
  expect(await roster.refusal('queue', 'remove', '--id', second?.id ?? '')).toContain('--id');
});

test.each([
  [['retry'], '--id'],
  [['remove'], '--all'],
  [['remove', '--id', '1; drop'], '--id'],
  [['remove', '--id', '1', '--all'], '--all'],
  [['retry', '--id', '99999999'], 'no email with the id 99999999'],
  [['list', '--limit', '0'], '--limit'],
])('queue %j is refused with a line that names the fault', async (args, named) => {
  expect(await roster.refusal('queue', ...args)).toContain(named);
});
