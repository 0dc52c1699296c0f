import { describe, expect, test } from 'vitest';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { eventually, install, levelOf, linkIn, mailServer } from './installation.ts';

describe('a mail server that is unavailable', () => {
  // Guarantees that an outage of the mail server costs time, and no link before the email was sent.
  test('delays the email', async () => {
    const server = await mailServer();
    await server.close();
    const roster = await install({ smtpUrl: server.url });
    await roster.work();

    const invitationId = await roster.invite(await roster.aTeam(), 'bob@example.com');
    await eventually(async () => expect(await roster.jobs()).toMatchObject([{ attempts: 1, locked_at: null }]));
    const [job] = await roster.jobs();
    expect(job?.run_at.getTime()).toBeGreaterThan(Date.now());
    expect(job?.last_error).toContain('ECONNREFUSED');
    expect(await roster.rows('select * from sent_mail')).toEqual([]);

    await server.reopen();
    await roster.runJobsNow();
    await eventually(async () => expect(await roster.jobs()).toEqual([]));
    expect(server.mails).toHaveLength(1);
    expect(await roster.links(invitationId)).toEqual([await linkIn(server.mails[0])]);
    expect(levelOf(roster.lines, 'job failed, retry scheduled')).toBe(40);
  });

  // Guarantees that no sealed token rests in the database after the last attempt, and that the operator hears of it.
  test('for too long ends the job, which leaves nothing but a line in the log', async () => {
    const server = await mailServer();
    const roster = await install({ smtpUrl: server.url });
    server.answerWith(() => {
      throw new Error('bob@example.com is not welcome here');
    });
    const invitationId = await roster.invite(await roster.aTeam(), 'bob@example.com');
    await roster.rows('update graphile_worker._private_jobs set attempts = max_attempts - 1');

    await roster.work();
    await eventually(async () => expect(await roster.jobs()).toEqual([]));

    expect(server.mails).toEqual([]);
    expect(levelOf(roster.lines, 'email failed permanently')).toBe(50);
    expect(roster.lines.join('')).toContain(invitationId);
    expect(roster.lines.join('')).not.toMatch(/example\.com|rst_inv_|sealedToken/);
    expect(await roster.links(invitationId)).toHaveLength(1);
  });

  // Guarantees the same for an attempt that fails after a renewal has taken its place.
  test('while the invitation is renewed leaves one job, which delivers', async () => {
    const server = await mailServer();
    const roster = await install({ smtpUrl: server.url });
    await roster.work();
    const team = await roster.aTeam();
    const refuse = Promise.withResolvers<void>();
    server.answerWith(() => refuse.promise);

    const invitationId = await roster.invite(team, 'bob@example.com');
    await eventually(() => expect(server.arriving()).toBe(1));
    await roster.invite(team, 'bob@example.com');
    await eventually(() => expect(server.mails).toHaveLength(1));
    refuse.reject(new Error('Try later'));
    await eventually(async () => expect(await roster.jobs()).toEqual([]));
    expect(levelOf(roster.lines, 'email failed permanently')).toBeUndefined();

    expect(server.mails).toHaveLength(1);
    expect(await roster.links(invitationId)).toEqual([await linkIn(server.mails[0])]);
  });
});

describe('stop', () => {
  test('waits for the email that is being sent', async () => {
    const server = await mailServer();
    const roster = await install({ smtpUrl: server.url });
    const worker = await roster.work();
    const accept = Promise.withResolvers<void>();
    server.answerWith(() => accept.promise);
    await roster.invite(await roster.aTeam(), 'bob@example.com');
    await eventually(() => expect(server.arriving()).toBe(1));

    const stopped = worker.stop();
    accept.resolve();
    await stopped;

    expect(server.mails).toHaveLength(1);
    expect(await roster.jobs()).toEqual([]);
  });

  test('leaves an email that takes too long to the next worker', async () => {
    const server = await mailServer();
    const roster = await install({ smtpUrl: server.url });
    const worker = await roster.work();
    const accept = Promise.withResolvers<void>();
    server.answerWith(() => accept.promise);
    await roster.invite(await roster.aTeam(), 'bob@example.com');
    await eventually(() => expect(server.arriving()).toBe(1));

    await worker.stop();
    accept.resolve();

    expect(await roster.jobs()).toMatchObject([{ attempts: 1, locked_at: null }]);
    expect(await roster.rows('select * from sent_mail')).toEqual([]);
  });
});

// Guarantees that a rotation of SECRET_KEYS as documented loses no email that waits.
test('an email that was queued under a key that is no longer the first still leaves', async () => {
  const server = await mailServer();
  const [older, newer] = ['older-key-older-key-older-key-older-key', 'newer-key-newer-key-newer-key-newer-key'];
  const roster = await install({ smtpUrl: server.url, settings: { SECRET_KEYS: `${newer},${older}` } });
  const invitationId = await roster.invite(await roster.aTeam(), 'bob@example.com');
  const [job] = await roster.rows<{ token: string }>(
    `select payload->>'sealedToken' as token from graphile_worker._private_jobs where key = $1`,
    [`invitation:${invitationId}`],
  );
  const sealedToken = createEncryption([older]).encrypt(roster.services.encryption.decrypt(job?.token ?? ''));
  await roster.rows(
    `update graphile_worker._private_jobs set payload = jsonb_set(payload::jsonb, '{sealedToken}', to_jsonb($1::text))::json where key = $2`,
    [sealedToken, `invitation:${invitationId}`],
  );

  await roster.work();

  await eventually(() => expect(server.mails).toHaveLength(1));
  expect(await roster.links(invitationId)).toEqual([await linkIn(server.mails[0])]);
});
