import { inChange } from '../support/in-change.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPatiently } from '../support/open-patiently.ts';
import { createEmailId, reserveEmailSlot } from '../../src/jobs/email-limits.ts';
import { eventually, install, linkIn, mailServer, parse } from './installation.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const LIMIT = { windowHours: 24, max: 20, maxFromTeam: 5 };

describe('the limits per mailbox', () => {
  // Guarantees that invitations cannot flood a mailbox, and that each invitee has a valid link (API6).
  test('delay the sixth email of a team until a day after the first; the fifth link works until then', async () => {
    const server = await mailServer();
    const roster = await install({ smtpUrl: server.url });
    await roster.work();
    const team = await roster.aTeam();
    const invitationId = await roster.invite(team, 'bob@example.com');
    for (let sent = 1; sent < 5; sent += 1) {
      await eventually(async () => expect([server.mails.length, await roster.jobs()]).toEqual([sent, []]));
      await roster.invite(team, 'Bob@example.com');
    }
    await eventually(async () => expect([server.mails.length, await roster.jobs()]).toEqual([5, []]));

    await roster.invite(team, 'BOB@example.com');
    await eventually(async () => expect(await roster.jobs()).toMatchObject([{ attempts: 0, locked_at: null }]));
    await eventually(async () =>
      expect((await roster.jobs())[0]?.run_at.getTime()).toBeGreaterThan(Date.now() + DAY_MS - 60_000),
    );
    const [fifth, sixth] = await roster.links(invitationId);
    expect(fifth).toBe(await linkIn(server.mails[4]));

    await roster.rows(
      `update sent_mail set created_at = created_at - interval '24 hours' where id = (select id from sent_mail order by created_at limit 1)`,
    );
    await roster.runJobsNow();
    await eventually(() => expect(server.mails).toHaveLength(6));
    expect(await linkIn(server.mails[5])).toBe(sixth);
    await eventually(async () => expect(await roster.links(invitationId)).toEqual([sixth]));
    await eventually(async () => expect(await roster.jobs()).toEqual([]));
  });

  test('count all teams together, and each address for itself', async () => {
    const server = await mailServer();
    const roster = await install({ smtpUrl: server.url, settings: { MAILS_PER_DAY: '2' } });
    await roster.work();

    for (const email of ['bob@example.com', 'bob@example.com', 'bob@example.com', 'carol@example.com']) {
      await roster.invite(await roster.aTeam(), email);
    }
    await eventually(async () => expect([server.mails.length, (await roster.jobs()).length]).toEqual([3, 1]));

    const recipients = await Promise.all(server.mails.map(async (raw) => (await parse(raw)).to?.[0]?.address ?? ''));
    expect(recipients.toSorted((a, b) => a.localeCompare(b))).toEqual([
      'bob@example.com',
      'bob@example.com',
      'carol@example.com',
    ]);
  });

  // Guarantees the limit whatever number of workers asks at the same moment.
  test('hold under parallel workers of two replicas', async () => {
    const roster = await install();
    const other = await openPatiently(roster.databaseUrl, 10);
    onTestFinished(() => other.close());
    const take = (db: typeof other, id: string) =>
      inChange(db, (tx) => reserveEmailSlot(tx, LIMIT, { id, recipient: 'bob@example.com', teamId: 'team_a' }));

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => take(i % 2 === 0 ? other : roster.services.db, `mail_invitation_${i}`)),
    );

    expect(answers.filter((heldUntil) => heldUntil === null)).toHaveLength(5);
    expect(await roster.rows('select * from sent_mail')).toHaveLength(5);
  });

  // Guarantees that an email is not counted again if it is retried after a crash.
  test('count an email once, however often it is attempted', async () => {
    const roster = await install();
    const take = (id: string) =>
      inChange(roster.services.db, (tx) =>
        reserveEmailSlot(tx, LIMIT, { id, recipient: 'bob@example.com', teamId: 'team_a' }),
      );

    for (const id of ['a', 'a', 'b', 'c', 'd', 'e', 'e'])
      expect(await take(createEmailId('invitation', id))).toBeNull();

    expect(await take(createEmailId('invitation', 'f'))).toBeInstanceOf(Date);
  });
});
