import { inChange } from '../support/in-change.ts';
import type { Change } from '../../src/transactions/steps.ts';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/entities/index.ts';
import { accountMailKey, enqueue, type AccountMail } from '../../src/jobs/enqueue.ts';
import { notify } from '../../src/jobs/notify.ts';
import { describeLanguage, type Language } from '../../src/messages/languages.ts';
import { eventually, install, mailServer, parse } from './installation.ts';

/** What an account with a preferred locale gets. */
const NOTICES: readonly (readonly [locale: string | null, language: Language, subject: string, text: string])[] = [
  [null, 'en', 'Your password was changed', 'Its other sessions were signed out.'],
  ['en-US', 'en', 'Your password was changed', 'Its other sessions were signed out.'],
  ['tlh', 'en', 'Your password was changed', 'Its other sessions were signed out.'],
  ['de', 'de', 'Ihr Passwort wurde geändert', 'Alle anderen Sitzungen wurden abgemeldet.'],
  ['fr-CA', 'fr', 'Votre mot de passe a été modifié', 'Ses autres sessions ont été déconnectées.'],
  ['es-MX', 'es', 'Su contraseña ha cambiado', 'Sus demás sesiones se han cerrado.'],
  ['pt', 'pt-BR', 'Sua senha foi alterada', 'As outras sessões foram encerradas.'],
  ['pt-PT', 'pt-BR', 'Sua senha foi alterada', 'As outras sessões foram encerradas.'],
  ['ja-JP', 'ja', 'パスワードが変更されました', 'ほかのセッションはサインアウトされました。'],
  ['ar-EG', 'ar', 'تغيّرت كلمة المرور', 'وسُجّل الخروج من جلساته الأخرى.'],
  ['de-CH', 'de', 'Ihr Passwort wurde geändert', 'Alle anderen Sitzungen wurden abgemeldet.'],
];

async function anInstallation() {
  const server = await mailServer();
  const roster = await install({ smtpUrl: server.url });
  await roster.work();
  const settle = () => eventually(async () => expect(await roster.jobs()).toEqual([]));
  const mailsTo = async (address: string) =>
    (await Promise.all(server.mails.map(parse))).filter(
      ({ to }) => to?.[0]?.address?.toLowerCase() === address.toLowerCase(),
    );
  /** Returns the only email to an address. */
  const mailTo = async (address: string) => {
    await settle();
    const [mail, ...others] = await mailsTo(address);
    expect(others).toEqual([]);
    return { subject: mail?.subject, text: mail?.text ?? '', html: mail?.html ?? '' };
  };
  const inTransaction = (work: (tx: Change) => Promise<void>) => inChange(roster.services.db, work);
  return { roster, mailTo, inTransaction };
}

const languageOf = (html: string): string | undefined => /<html lang="([^"]+)"/.exec(html)?.[1];

test('a notice is in the language of its account, in both parts', async () => {
  const { roster, mailTo, inTransaction } = await anInstallation();
  const cases = await Promise.all(
    NOTICES.map(
      async ([preferredLocale, ...expected]) => [await roster.anAccount({ preferredLocale }), expected] as const,
    ),
  );

  await inTransaction(async (tx) => {
    for (const [{ id }] of cases) await notify(tx, id, { kind: 'password_changed' });
  });

  for (const [{ email }, [language, subject, words]] of cases) {
    const mail = await mailTo(email);
    expect(mail.subject).toBe(subject);
    for (const part of [mail.text, mail.html]) expect(part).toContain(words);
    expect(mail.html).toContain(`<html lang="${language}" dir="${describeLanguage(language).direction}">`);
  }
});

describe('the language of an email', () => {
  test('is that of the account, although it was deleted with the change', async () => {
    const { roster, mailTo, inTransaction } = await anInstallation();
    const account = await roster.anAccount({ preferredLocale: 'de' });
    await inTransaction(async (tx) => {
      await notify(tx, account.id, { kind: 'account_deleted' });
      await tx.em.execute('delete from account where id = ?', [account.id]);
    });
    expect((await mailTo(account.email)).subject).toBe('Ihr Konto wurde gelöscht');
  });

  test.each([
    ['that of the account, before that of the browser', 'de', 'en', 'Sie haben bereits ein Konto'],
    ['that of the browser, if the account prefers none', null, 'de', 'Sie haben bereits ein Konto'],
    ['English, if the job names a language of another version', null, 'tlh', 'You already have an account'],
    ['English, if the job names none', null, undefined, 'You already have an account'],
  ] as const)('is %s', async (_rule, preferredLocale, language, subject) => {
    const { roster, mailTo, inTransaction } = await anInstallation();
    const { id: accountId, email } = await roster.anAccount({ preferredLocale });
    const mail = { kind: 'already_registered', accountId, to: email, ...(language && { language }) } as AccountMail; // also of other versions
    await inTransaction((tx) => enqueue(tx, 'sendAccountMail', mail, accountMailKey(mail)));
    expect((await mailTo(email)).subject).toBe(subject);
  });

  test('of an invitation is that of the invited account, else of the inviter, else English', async () => {
    const { roster, mailTo } = await anInstallation();
    const team = (inviterLocale: string | null) =>
      roster
        .anAccount({ firstName: 'Ann', preferredLocale: inviterLocale })
        .then((owner) => roster.aTeam({ owner, name: 'Acme' }));
    const [german, none] = [await team('de-AT'), await team(null)];
    const someone = async (preferredLocale: string | null) => (await roster.anAccount({ preferredLocale })).email;
    const unverified = async (preferredLocale: string, createdBy: string | null) => {
      const { id, email } = await roster.anAccount({ preferredLocale });
      await roster.rows('update account set email_verified_at = null, created_by = $2 where id = $1', [id, createdBy]);
      return email;
    };
    const stranger = () => `${newId('acc')}@example.com`;
    const invited = async (to: string, from: typeof german) => (await roster.invite(from, to), to);

    const cases = [
      ['en', await invited(await someone('en-GB'), german)],
      ['de', await invited((await someone('de')).toUpperCase(), none)],
      ['de', await invited(await someone(null), german)],
      ['de', await invited(await someone('tlh'), german)],
      ['de', await invited(stranger(), german)],
      ['en', await invited(stranger(), none)],
      // Someone else can have chosen the language of an account whose address was never verified.
      ['en', await invited(await unverified('de', null), none)],
      ['de', await invited(await unverified('de', 'operator'), none)],
    ] as const;

    for (const [language, address] of cases) {
      const { subject, html } = await mailTo(address);
      expect([address, languageOf(html)]).toEqual([address, language]);
      expect(subject).toBe(language === 'de' ? 'Einladung in das Team „Acme“' : 'Invitation to the team “Acme”');
      expect(html).toContain(language === 'de' ? '„Mitglied“' : '“Member”');
    }
  });
});
