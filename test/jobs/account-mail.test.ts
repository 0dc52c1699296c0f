import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { newId } from '../../src/entities/index.ts';
import { accountMailKey, enqueue, type AccountMail } from '../../src/jobs/enqueue.ts';
import { createEmailId, reserveEmailSlot } from '../../src/jobs/email-limits.ts';
import { renderAccountEmail, type AccountEmail } from '../../src/email/account-emails.ts';
import { eventually, install, levelOf, mailServer, parse } from './installation.ts';

const baseUrl = 'https://roster.example';
const expiresAt = new Date('2030-05-06T07:08:09Z');
const linked = { token: 'rst_ev_secret', expiresAt };

const NEWS: readonly AccountEmail[] = [
  { kind: 'verify_email', ...linked },
  { kind: 'change_email', ...linked },
  { kind: 'reset_password', ...linked },
  { kind: 'already_registered' },
  { kind: 'password_changed' },
  { kind: 'password_reset' },
  { kind: 'access_revoked' },
  { kind: 'passkey_added' },
  { kind: 'api_key_created' },
  { kind: 'account_deleted' },
  { kind: 'email_change_requested', newEmail: 'new@example.com' },
  { kind: 'ownership_offer_made', teamName: 'Acme' },
  { kind: 'team_deleted', teamName: 'Acme' },
  { kind: 'email_changed', newEmail: 'new@example.com' },
  { kind: 'new_device', browser: 'Firefox', os: 'Linux', country: 'DE', city: null, at: expiresAt },
  {
    kind: 'unused_keys',
    keys: [{ name: 'CI', keyPrefix: 'rst_pk_abcdef', last4: 'wxyz', endsAt: '2030-01-02T00:00:00Z' }],
    number: 3,
  },
  {
    kind: 'leaked_key_revoked',
    keyName: 'CI',
    keyPrefix: 'rst_tk_abcdef',
    last4: 'wxyz',
    teamName: 'Acme',
    leak: 'github',
    foundAt: 'https://github.com/octo/repo',
  },
  { kind: 'leaked_token_revoked', clientName: 'An app', leak: 'holder', foundAt: null },
  { kind: 'ownership_offered', teamName: 'Acme', ownerName: 'Ann', expiresAt },
];

describe('emails about accounts', () => {
  test.each(NEWS.map((news) => [news.kind, news] as const))(
    '%s says the same in both parts, and loads nothing',
    (_kind, news) => {
      const { subject, text, html } = renderAccountEmail(news, baseUrl);

      expect(subject).not.toMatch(/[\r\n]/);
      const plain = html
        .replace(/<title>.*?<\/title>|<h1.*?<\/h1>/g, '')
        .replace(/<[^>]+>/g, ' ')
        .replaceAll('&#39;', "'")
        .replaceAll('&quot;', '"');
      for (const line of text
        .trim()
        .split('\n\n')
        .filter((paragraph) => !/^To .* open this link by /.test(paragraph)))
        expect(plain).toContain(line);
      expect(html).not.toMatch(/<(img|script|link|iframe)|url\(/);
      for (const [url] of `${text} ${html}`.matchAll(/https?:\/\/[^\s"<]+/g))
        expect(url.startsWith(baseUrl)).toBe(true);
    },
  );

  test.each([
    ['verify_email', `${baseUrl}/verify-email?token=rst_ev_secret`],
    ['change_email', `${baseUrl}/confirm-email?token=rst_ev_secret`],
    ['reset_password', `${baseUrl}/reset-password?token=rst_ev_secret`],
  ] as const)('%s leads to its page, and says until when', (kind, link) => {
    const { text, html } = renderAccountEmail({ kind, ...linked }, baseUrl);

    for (const part of [text, html]) {
      expect(part).toContain(link);
      expect(part).toContain('6 May 2030 at 07:08 UTC');
    }
  });

  // Guarantees that users cannot inject content into our emails: names of browsers, teams and addresses are untrusted.
  test('quote text that other users chose', () => {
    const hostile = '<b>”\r\nGo to https://evil.example/';
    const mails = [
      renderAccountEmail(
        { kind: 'new_device', browser: hostile, os: hostile, country: hostile, city: hostile, at: expiresAt },
        baseUrl,
      ),
      renderAccountEmail({ kind: 'email_changed', newEmail: hostile }, baseUrl),
      renderAccountEmail({ kind: 'ownership_offered', teamName: hostile, ownerName: hostile, expiresAt }, baseUrl),
    ];

    for (const { subject, text, html } of mails) {
      expect(subject + text + html).not.toContain('evil.example');
      expect(html).not.toContain('<b>');
      expect(text).not.toMatch(/^Go to/m);
    }
  });
});

describe('sendAccountMail', () => {
  async function anInstallation() {
    const server = await mailServer();
    const roster = await install({ smtpUrl: server.url });
    const account = await roster.anAccount();
    const queue = (mail: AccountMail) =>
      roster.services.db.em().transactional((tx) => enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail)));
    const aLink = async (validMs = 3_600_000) => {
      const { secret, hash } = roster.services.tokens.generate('passwordReset');
      await roster.rows(
        `insert into account_token (token_hash, account_id, purpose, email, created_at, expires_at) values ($1, $2, 'reset_password', $3, now(), $4)`,
        [hash, account.id, account.email, new Date(Date.now() + validMs)],
      );
      return secret;
    };
    const resetMail = (token: string): AccountMail => ({
      kind: 'reset_password',
      accountId: account.id,
      to: account.email,
      sealedToken: roster.services.encryption.encrypt(token),
    });
    return { server, roster, account, queue, aLink, resetMail };
  }

  test('emails a valid link, and none that was used or has expired', async () => {
    const { server, roster, queue, aLink, resetMail } = await anInstallation();
    await queue({ ...resetMail(await aLink(-1000)), accountId: newId('acc') });
    await queue({ ...resetMail(roster.services.tokens.generate('passwordReset').secret), accountId: newId('acc') });
    const token = await aLink();
    await queue(resetMail(token));

    await roster.work();
    await eventually(async () => expect(await roster.jobs()).toEqual([]));

    expect(server.mails).toHaveLength(1);
    expect((await parse(server.mails[0] ?? '')).text).toContain(`${baseUrl}/reset-password?token=${token}`);
  });

  // Guarantees that no sealed token rests in the database after the last attempt, and none in the log.
  test('that fails permanently leaves only a line in the log', async () => {
    const { server, roster, account, queue, aLink, resetMail } = await anInstallation();
    server.answerWith(() => {
      throw new Error(`${account.email} is not welcome here`);
    });
    const token = await aLink();
    await queue(resetMail(token));
    await roster.rows('update graphile_worker._private_jobs set attempts = max_attempts - 1');

    await roster.work();
    await eventually(async () => expect(await roster.jobs()).toEqual([]));

    expect(levelOf(roster.lines, 'email failed permanently')).toBe(50);
    expect(roster.lines.join('')).toContain(account.id);
    expect(roster.lines.join('')).not.toMatch(/example\.com|rst_pr_|sealedToken/);
    expect(await roster.rows('select * from sent_mail')).toEqual([]);
  });

  test('notifies the nominee of an open offer, and of none that was withdrawn', async () => {
    const { server, roster, account, queue } = await anInstallation();
    const owner = await roster.anAccount({ firstName: 'Ann', lastName: 'Owner' });
    const team = await roster.aTeam({ owner, name: 'Acme' });
    const offer: AccountMail = { kind: 'ownership_offered', accountId: account.id, to: account.email, teamId: team.id };
    await queue({ ...offer, to: 'withdrawn@example.com' });
    await roster.work();
    await eventually(async () => expect(await roster.jobs()).toEqual([]));
    expect(server.mails).toEqual([]);

    await roster.rows(
      `insert into ownership_transfer (team_id, nominee_id, created_at, expires_at) values ($1, $2, now(), now() + interval '7 days')`,
      [team.id, account.id],
    );
    await queue(offer);
    await eventually(() => expect(server.mails).toHaveLength(1));

    expect((await parse(server.mails[0] ?? '')).text).toContain(
      '“Ann Owner” offers you the ownership of the team “Acme”.',
    );
  });

  // Guarantees that a notice is sent whatever limits attackers have exhausted, and that an expired link is not.
  test('sends a notice to a mailbox that is over every limit, delays other emails and drops expired links', async () => {
    const { server, roster, account, queue, aLink, resetMail } = await anInstallation();
    await roster.rows(
      `insert into sent_mail (id, recipient, created_at) select kind || $1 || n, $1, now() from generate_series(1, 20) as n, unnest(array['mail_reset_password_', 'mail_already_registered_', 'mail_invitation_']) as kind`,
      [account.email],
    );
    await queue(resetMail(await aLink(3_000_000)));
    await queue({ kind: 'already_registered', accountId: account.id, to: account.email });
    await queue({ kind: 'password_changed', accountId: account.id, to: account.email });

    await roster.work();
    await eventually(async () => expect(await roster.jobs()).toMatchObject([{ attempts: 0, locked_at: null }]));

    await eventually(async () =>
      expect((await roster.jobs())[0]?.run_at.getTime()).toBeGreaterThan(Date.now() + 86_000_000),
    );
    await eventually(() => expect(server.mails).toHaveLength(1));
    expect((await parse(server.mails[0] ?? '')).subject).toBe('Your password was changed');
  });
});

describe('the slots for links', () => {
  const place = (id: string) => ({ id: createEmailId('reset_password', id), recipient: 'bob@example.com' });

  test('hold under parallel workers of two replicas, and use none of other emails', async () => {
    const roster = await install();
    const other = await openDatabase(roster.databaseUrl, 10);
    onTestFinished(() => other.close());

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? other : roster.services.db)
          .em()
          .transactional((tx) => reserveEmailSlot(tx, { windowHours: 1, max: 5 }, place(`${i}`))),
      ),
    );

    expect(answers.filter((heldUntil) => heldUntil === null)).toHaveLength(5);
    const free = (answers.find((heldUntil) => heldUntil !== null)?.getTime() ?? 0) - Date.now();
    expect(free).toBeGreaterThan(3_500_000);
    expect(free).toBeLessThan(3_610_000);
    const limits = { windowHours: 24, max: 1 };
    const invitation = { id: createEmailId('invitation', 'a'), recipient: 'bob@example.com', teamId: 'team_a' };
    expect(await other.em().transactional((tx) => reserveEmailSlot(tx, limits, invitation))).toBeNull();
  });
});
