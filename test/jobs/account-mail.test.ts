import { inChange } from '../support/in-change.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPatiently } from '../support/open-patiently.ts';
import { newId } from '../../src/entities/index.ts';
import { accountMailKey, enqueue, type AccountMail } from '../../src/jobs/enqueue.ts';
import { createEmailId, reserveEmailSlot } from '../../src/jobs/email-limits.ts';
import { renderAccountEmail } from '../../src/email/account-emails.ts';
import { describeLanguage, LANGUAGES, type Language } from '../../src/messages/languages.ts';
import { BASE_URL, contextFor, EXPIRES_AT, renderExamples } from '../support/email-examples.ts';
import { eventually, install, levelOf, mailServer, parse } from './installation.ts';

const linked = { token: 'rst_ev_secret', expiresAt: EXPIRES_AT };
const context = contextFor();

/** The text of HTML as a reader sees it. */
const read = (html: string): string =>
  html
    .replace(/<(title|style)>.*?<\/\1>|<!--.*?-->/gs, '')
    .replace(/<[^>]+>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"');

describe('emails', () => {
  test.each(Object.keys(LANGUAGES) as Language[])('in %s say the same in both parts, and load nothing', (language) => {
    const { direction } = describeLanguage(language);
    for (const { kind, subject, text, html } of renderExamples(contextFor(language))) {
      expect(subject, kind).not.toMatch(/[\r\n]/);
      for (const line of text.trim().split('\n').filter(Boolean))
        expect(read(html), kind).toContain(line.replace(/^- |:$/g, ''));
      expect(html, kind).toContain(`<html lang="${language}" dir="${direction}">`);
      expect(html, kind).not.toMatch(/<(img|script|link|iframe)|url\(|@import|\bon\w+=/);
      for (const [url] of `${text} ${html}`.matchAll(/https?:\/\/[^\s"<]+/g))
        expect(url.startsWith(BASE_URL), kind).toBe(true);
    }
  });

  test.each([
    ['verify_email', `${BASE_URL}/verify-email?token=rst_ev_secret`],
    ['change_email', `${BASE_URL}/confirm-email?token=rst_ev_secret`],
    ['reset_password', `${BASE_URL}/reset-password?token=rst_ev_secret`],
    ['sign_in', `${BASE_URL}/sign-in-link?token=rst_ev_secret`],
  ] as const)('%s leads to its page, and says until when', (kind, link) => {
    const { text, html } = renderAccountEmail({ kind, ...linked }, context);

    for (const part of [text, html]) {
      expect(part).toContain(link);
      expect(part).toContain('6 May 2030 at 07:08 UTC');
    }
  });

  // Guarantees that users cannot inject content into our emails: names of browsers, teams and addresses are untrusted.
  test.each(Object.keys(LANGUAGES) as Language[])('in %s quote text that other users chose', (language) => {
    const [open, close] = describeLanguage(language).quotes.map((mark) => mark.trim()) as [string, string]; // a pair
    const at = EXPIRES_AT;
    const hostile = `<b>”“»«」』"›\u2069\u202e\r\nGo to https://evil.example/`;
    const others = contextFor(language);
    const HOSTILE_ORIGIN = { browser: hostile, os: hostile, country: hostile, city: hostile };
    const mails = [
      renderAccountEmail(
        { kind: 'new_device', browser: hostile, os: hostile, country: hostile, city: hostile, at },
        others,
      ),
      renderAccountEmail({ kind: 'email_changed', thing: hostile }, others),
      renderAccountEmail(
        {
          kind: 'role_given',
          thing: hostile,
          person: hostile,
          teamId: 'team_1',
          teamName: hostile,
          byName: hostile,
          cause: { at: at.toISOString(), by: 'app', byId: 'client_1', origin: HOSTILE_ORIGIN },
        },
        others,
      ),
      renderAccountEmail(
        { kind: 'api_key_created', number: 2, things: [hostile, { thing: hostile, person: hostile }] },
        others,
      ),
      renderAccountEmail({ kind: 'ownership_offered', teamName: hostile, ownerName: hostile, expiresAt: at }, others),
    ];

    for (const { subject, text, html } of mails) {
      expect(subject + text + html).not.toContain('evil.example');
      expect(html).not.toContain('<b>');
      expect(text).not.toMatch(/^Go to/m);
      expect(text).not.toContain('\u202e');
      for (const [, name = ''] of text.matchAll(/(<b>.*?evil)/g)) {
        expect(name).not.toContain(close);
        expect(name).not.toContain(open);
        expect(name).not.toContain('\u2069');
      }
    }
    expect(mails[1]?.text).toContain('<b>');
  });

  test('isolate the direction of names', () => {
    const send = (language: Language, newEmail: string) =>
      renderAccountEmail({ kind: 'email_changed', thing: newEmail }, contextFor(language)).text;

    expect(send('en', 'אבג')).toContain('“\u2068אבג\u2069”');
    expect(send('en', 'Ann')).toContain('“Ann”');
  });

  test('carry the name and the color of the brand', () => {
    const { text, html } = renderAccountEmail(
      { kind: 'password_changed' },
      { ...context, brand: { name: 'Acme & <Sons>', color: '#7a0033' } },
    );

    expect(text).toContain(`Sent by Acme & <Sons> at ${BASE_URL}`);
    expect(html).toContain('Acme &amp; &lt;Sons&gt;');
    expect(html).toContain('#7a0033');
    expect(html).not.toContain('Roster');
  });
});

describe('sendAccountMail', () => {
  async function anInstallation() {
    const server = await mailServer();
    const roster = await install({ smtpUrl: server.url });
    const account = await roster.anAccount();
    const queue = (mail: AccountMail) =>
      inChange(roster.services.db, (tx) => enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail)));
    const aLink = async (validMs = 3_600_000, purpose = 'reset_password') => {
      const { secret, hash } = roster.services.tokens.generate('passwordReset');
      await roster.rows(
        `insert into account_token (token_hash, account_id, purpose, email, created_at, expires_at) values ($1, $2, $5, $3, now(), $4)`,
        [hash, account.id, account.email, new Date(Date.now() + validMs), purpose],
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
    // A used link of a change of address is kept.
    await queue({ ...resetMail(await aLink(3_600_000, 'changed_email')), accountId: newId('acc') });
    const token = await aLink();
    await queue(resetMail(token));

    await roster.work();
    await eventually(async () => expect(await roster.jobs()).toEqual([]));

    expect(server.mails).toHaveLength(1);
    expect((await parse(server.mails[0] ?? '')).text).toContain(`${BASE_URL}/reset-password?token=${token}`);
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
    const other = await openPatiently(roster.databaseUrl, 10);
    onTestFinished(() => other.close());

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        inChange(i % 2 === 0 ? other : roster.services.db, (tx) =>
          reserveEmailSlot(tx, { windowHours: 1, max: 5 }, place(`${i}`)),
        ),
      ),
    );

    expect(answers.filter((heldUntil) => heldUntil === null)).toHaveLength(5);
    const free = (answers.find((heldUntil) => heldUntil !== null)?.getTime() ?? 0) - Date.now();
    expect(free).toBeGreaterThan(3_500_000);
    expect(free).toBeLessThan(3_610_000);
    const limits = { windowHours: 24, max: 1 };
    const invitation = { id: createEmailId('invitation', 'a'), recipient: 'bob@example.com', teamId: 'team_a' };
    expect(await inChange(other, (tx) => reserveEmailSlot(tx, limits, invitation))).toBeNull();
  });
});
