import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { renderInvitationEmail } from '../../src/email/invitation-email.ts';
import { contextFor } from '../support/email-examples.ts';
import { eventually, install, linkIn, mailServer, parse, tokenIn } from './installation.ts';

const plain = {
  teamName: 'Acme',
  inviterName: 'Ann',
  role: { id: 'member', name: 'Member' },
  link: 'https://roster.example/invitation?token=secret',
  expiresAt: new Date('2030-05-06T07:08:09Z'),
};

const render = (changes: Partial<typeof plain> | { inviterName: null } = {}) =>
  renderInvitationEmail({ ...plain, ...changes }, contextFor());

describe('the invitation email', () => {
  // Guarantees that what people get is complete, and works in the programs that show only one of the parts.
  test('contains in both parts inviter, team and expiry, and that it can be ignored', () => {
    const { subject, text, html } = render();

    expect(subject).toBe('Invitation to the team “Acme”');
    for (const part of [text, html]) {
      expect(part).toContain('“Ann” invites you to join the team “Acme” with the role “Member”');
      expect(part).toContain('6 May 2030 at 07:08 UTC');
      expect(part).toContain('ignore this email');
      expect(part).toContain('https://roster.example/invitation?token=secret');
    }
    expect(html).not.toMatch(/<(img|script|link|iframe)|url\(/);
  });

  test('calls an inviter whose account was deleted a member', () => {
    expect(render({ inviterName: null }).text).toMatch(/^A member invites you/);
  });

  // Guarantees that a name cannot add a link of its own to our email.
  test.each([
    ['https://evil.example/login', '“https: //evil. example/login”'],
    ['www.evil.example', '“www. evil. example”'],
    ['pay to ann@evil.example', '“pay to ann@evil. example”'],
    ['mailto:ann', '“mailto: ann”'],
    ['evil。example．com', '“evil。 example． com”'],
    ['evil.\u00ad\u200bexample', '“evil. example”'],
    ['203.0.113.7:8080', '“203. 0. 113. 7: 8080”'],
    ['Dr. Who & Sons Inc.', '“Dr. Who & Sons Inc.”'],
  ])('breaks links in names: %s', (name, shown) => {
    const { text, subject } = render({ teamName: name });

    expect(text).toContain(shown);
    expect(subject).toContain(shown);
  });

  // Guarantees that a reader sees where a name ends, and that it is never a line of its own.
  test('keeps names on one line, inside of their quotation marks, and limited in length', () => {
    const hostile = 'Acme”\r\n\u2028Your account\tis “locked\u202e\u0000 "now"';
    const long = '🏔'.repeat(500);

    expect(render({ teamName: hostile }).subject).toBe("Invitation to the team “Acme' Your account is 'locked 'now'”");
    expect(render({ teamName: long }).text).toContain(`“${'🏔'.repeat(99)}…”`);
    expect(Array.from(render({ teamName: long }).subject).length).toBeLessThan(100);
  });

  test('escapes names in HTML', () => {
    const name = `<script>alert(1)</script><a href='x'>&`;
    const { html } = render({ teamName: name, inviterName: name, role: { id: 'role_1', name } });

    expect(html).not.toMatch(/<script|<a href='x'/);
    expect(html.match(/&lt;script&gt;alert\(1\)&lt;\/script&gt;&lt;a href=&#39;x&#39;&gt;&amp;/g)).toHaveLength(3);
  });
});

describe('sending an invitation', () => {
  // Guarantees the whole way: the email is sent, its link works, and it contains nothing else of the invitation.
  test('a mail server gets one email whose link is a stored one', async () => {
    const server = await mailServer();
    const roster = await install({ smtpUrl: server.url });
    await roster.work();
    const team = await roster.aTeam({ name: 'Acme <script>\r\nBcc: eve@example.com\r\n\r\nPaid' });

    const invitationId = await roster.invite(team, 'Bob.Jr@example.com');
    await eventually(() => expect(server.mails).toHaveLength(1));

    const raw = server.mails[0] ?? '';
    const mail = await parse(raw);
    expect(mail.to).toEqual([{ name: '', address: 'Bob.Jr@example.com' }]);
    expect(mail.from).toEqual({ name: 'Roster', address: 'roster@localhost' });
    expect(mail.headers.map(({ key }) => key)).not.toContain('bcc');
    expect(mail.bcc).toBeUndefined();
    expect(mail.subject).toBe('Invitation to the team “Acme <script> Bcc: eve@example. com Paid”');
    expect(mail.text).toContain('“Ann Inviter” invites you');
    expect(mail.html).toContain('Acme &lt;script&gt; Bcc: eve@example. com Paid');
    expect(mail.html).toContain(`href="https://roster.example/invitation?token=${tokenIn(mail)}"`);
    expect(await roster.links(invitationId)).toEqual([hashSecret(tokenIn(mail)).toString('hex')]);
    for (const part of [raw, mail.text, mail.html, mail.messageId]) expect(part).not.toContain(invitationId);

    await eventually(async () => expect(await roster.jobs()).toEqual([]));
    expect(roster.lines.join('')).not.toContain(tokenIn(mail));
    expect(roster.lines.join('')).not.toContain('example.com');
  });

  test('without a mail server the email is a file that only its owner can read', async () => {
    const roster = await install();
    await roster.work();

    const invitationId = await roster.invite(await roster.aTeam(), 'bob@example.com');
    await roster.invite(await roster.aTeam(), 'carol@example.com');
    await eventually(async () => expect(await roster.jobs()).toEqual([]));

    const files = readdirSync(roster.mailDirectory).toSorted();
    expect(files).toHaveLength(2);
    for (const file of files) expect(file).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-[0-9a-f]{8}\.eml$/);
    const raws = files.map((file) => readFileSync(join(roster.mailDirectory, file), 'utf8'));
    expect(await roster.links(invitationId)).toEqual([
      await linkIn(raws.find((raw) => raw.includes('To: bob@example.com'))),
    ]);
    expect(statSync(join(roster.mailDirectory, files[0] ?? '')).mode & 0o077).toBe(0);
  });

  // Guarantees that a revocation applies to emails that were not sent yet.
  test.each([
    ['revoked', 'delete from invitation where id = $1'],
    ['accepted', 'update invitation set accepted_at = now() where id = $1'],
    ['expired', `update invitation set expires_at = now() - interval '1 second' where id = $1`],
  ])('an invitation that was %s gets no mail', async (_state, change) => {
    const server = await mailServer();
    const roster = await install({ smtpUrl: server.url });
    await roster.rows(change, [await roster.invite(await roster.aTeam(), 'bob@example.com')]);

    await roster.work();
    await eventually(async () => expect(await roster.jobs()).toEqual([]));

    expect(server.arriving()).toBe(0);
    expect(await roster.rows('select * from sent_mail')).toEqual([]);
  });

  // Guarantees that an invitee always has a valid link during a renewal (decisions, Invitations).
  test('after a renewal both links stay valid until the second email was sent, then only the second', async () => {
    const server = await mailServer();
    const roster = await install({ smtpUrl: server.url });
    await roster.work();
    const team = await roster.aTeam();
    const invitationId = await roster.invite(team, 'bob@example.com');
    await eventually(async () => expect(await roster.jobs()).toEqual([]));
    const first = await linkIn(server.mails[0]);
    const accept = Promise.withResolvers<void>();
    server.answerWith(() => accept.promise);

    expect(await roster.invite(team, 'bob@example.com')).toBe(invitationId);
    await eventually(() => expect(server.arriving()).toBe(2));
    const [stays, second, ...more] = await roster.links(invitationId);
    expect([stays, more]).toEqual([first, []]);

    accept.resolve();
    await eventually(async () => expect(await roster.links(invitationId)).toEqual([second]));
    expect(await linkIn(server.mails[1])).toBe(second);
  });

  // Guarantees it also for replicas whose clocks differ: the renewal's link seems to be the older one.
  test.each([0, -1])(
    'a renewal that overtakes its first mail sends one mail, with the newer link (%s minutes)',
    async (minutes) => {
      const server = await mailServer();
      const roster = await install({ smtpUrl: server.url });
      const team = await roster.aTeam();
      const invitationId = await roster.invite(team, 'bob@example.com');
      const [first] = await roster.links(invitationId);
      await roster.invite(team, 'bob@example.com');
      await roster.rows(
        `update invitation_link set created_at = created_at + $1 * interval '1 minute' where token_hash <> decode($2, 'hex')`,
        [minutes, first],
      );

      await roster.work();
      await eventually(async () => expect(await roster.jobs()).toEqual([]));

      expect(server.mails).toHaveLength(1);
      expect(await roster.links(invitationId)).toEqual([await linkIn(server.mails[0])]);
    },
  );
});
