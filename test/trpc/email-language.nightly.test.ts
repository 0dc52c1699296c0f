import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { tokenIn } from '../support/mailbox.ts';
import { setLastProof } from '../support/sessions.ts';
import { anAddress, aSignedIn, OTHER_PASSWORD, PASSWORD, signIn } from './people.ts';

const GERMAN = 'tlh, de-CH;q=0.9, en;q=0.5';

const visitorWith = (api: Api, acceptLanguage: string) => {
  const visitor = api.visitor();
  visitor.headers['accept-language'] = acceptLanguage;
  return visitor;
};

describe('without a preferred locale', () => {
  test.for([
    [GERMAN, 'Bestätigen Sie Ihre E-Mail-Adresse'],
    ['en-US,en;q=0.9,de;q=0.8', 'Verify your email address'],
    ['tlh', 'Verify your email address'],
    ['de;q=0', 'Verify your email address'],
    [`${'x,'.repeat(400)}de`, 'Verify your email address'],
    [';;q=,,=;../de;<b>', 'Verify your email address'],
  ] as const)(
    'the link to verify is in the language of the browser: %s',
    async ([acceptLanguage, subject], { api }) => {
      const email = anAddress();
      await visitorWith(api, acceptLanguage).trpc.auth.signUp.mutate({ email, password: PASSWORD });

      expect((await api.mailTo(email)).subject).toBe(subject);
    },
  );

  test('a link that is sent again is in the language of the browser that asked for it', async ({ api }) => {
    const visitor = api.visitor();
    const email = anAddress();
    await visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD });
    await api.mailTo(email, /^Verify/);
    visitor.headers['accept-language'] = GERMAN;
    await visitor.trpc.auth.resendVerification.mutate({ email });

    await api.mailTo(email, /^Bestätigen/);
  });

  test('links that the owner requests are in the language of the browser', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api);
    visitor.headers['accept-language'] = GERMAN;
    const newEmail = anAddress();
    await visitor.trpc.auth.forgotPassword.mutate({ email });
    await visitor.trpc.auth.emailSignInLink.mutate({ email });
    await visitor.trpc.account.changeEmail.mutate({ newEmail });

    await api.mailTo(email, /^Setzen Sie Ihr Passwort zurück$/);
    await api.mailTo(email, /^Ihr Anmeldelink$/);
    await api.mailTo(newEmail, /^Bestätigen Sie Ihre neue E-Mail-Adresse$/);
  });

  // Guarantees that an attacker cannot choose a language that the owner of the account does not read.
  test('security notices are in English, whatever the browser that caused them prefers', async ({ api }) => {
    const { email } = await aSignedIn(api);
    const attacker = visitorWith(api, GERMAN);
    await signIn(attacker, email);
    await attacker.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD });

    await api.mailTo(email, /^Sign-in from a new browser$/);
    await api.mailTo(email, /^Your password was changed$/);
  });
});

test('the preferred locale of an account precedes the language of the browser', async ({ api }) => {
  const { email, visitor } = await aSignedIn(api);
  await visitor.trpc.account.updateProfile.mutate({ preferredLocale: 'de-AT' });
  visitor.headers['accept-language'] = 'en';
  await visitor.trpc.auth.forgotPassword.mutate({ email });
  const mail = await api.mailTo(email, /^Setzen Sie Ihr Passwort zurück$/);
  await visitor.trpc.auth.resetPassword.mutate({ token: tokenIn(mail), password: OTHER_PASSWORD });

  await api.mailTo(email, /^Ihr Passwort wurde zurückgesetzt$/);
});

// Guarantees that a thief of a session cannot choose a language that the owner of the account does not read.
describe('a language that a session without a recent proof has set', () => {
  const changeStale = async (api: Api, person: Awaited<ReturnType<typeof aSignedIn>>, locale: string) => {
    await setLastProof(api, 11, person);
    await person.visitor.trpc.account.updateProfile.mutate({ preferredLocale: locale });
  };
  const resetPassword = async (
    api: Api,
    { email, visitor }: Awaited<ReturnType<typeof aSignedIn>>,
    subject: RegExp,
  ) => {
    await visitor.trpc.auth.forgotPassword.mutate({ email });
    await visitor.trpc.auth.resetPassword.mutate({
      token: tokenIn(await api.mailTo(email, subject)),
      password: OTHER_PASSWORD,
    });
  };

  test('applies to links, and not to security notices', async ({ api }) => {
    const person = await aSignedIn(api);
    await person.visitor.trpc.account.updateProfile.mutate({ preferredLocale: 'fr' });
    await changeStale(api, person, 'ja');
    await changeStale(api, person, 'de');
    await resetPassword(api, person, /^Setzen Sie Ihr Passwort zurück$/);
    await api.mailTo(person.email, /^Votre mot de passe a été réinitialisé$/);
  });

  test('applies to security notices when the session has ended', async ({ api }) => {
    const person = await aSignedIn(api);
    await changeStale(api, person, 'de');
    await api.rows(`update account set notice_locale_until = now() - interval '1 ms' where email = $1`, [person.email]);
    await resetPassword(api, person, /^Setzen Sie Ihr Passwort zurück$/);
    await api.mailTo(person.email, /^Ihr Passwort wurde zurückgesetzt$/);
  });

  test('applies at once when a session with a recent proof sets it', async ({ api }) => {
    const person = await aSignedIn(api);
    await changeStale(api, person, 'ja');
    await setLastProof(api, 0, person);
    await person.visitor.trpc.account.updateProfile.mutate({ preferredLocale: 'de' });
    await resetPassword(api, person, /^Setzen Sie Ihr Passwort zurück$/);
    await api.mailTo(person.email, /^Ihr Passwort wurde zurückgesetzt$/);
  });
});

// Guarantees that the response to a sign-up does not depend on the language of an account with the address.
test('the language of an account is not visible to a stranger', async ({ api }) => {
  const { email, visitor } = await aSignedIn(api);
  await visitor.trpc.account.updateProfile.mutate({ preferredLocale: 'de' });
  const stranger = anAddress();
  const answers = await Promise.all(
    [email, stranger].map((address) =>
      visitorWith(api, 'en').trpc.auth.signUp.mutate({ email: address, password: PASSWORD }),
    ),
  );

  expect(answers[0]).toEqual(answers[1]);
  expect((await api.mailTo(email)).subject).toBe('Sie haben bereits ein Konto');
  expect((await api.mailTo(stranger)).subject).toBe('Verify your email address');
});
