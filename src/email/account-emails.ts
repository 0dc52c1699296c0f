import { composed, inUtc, quoted } from './layout.ts';
import type { Mail } from './mailer.ts';

type Linked = { readonly token: string; readonly expiresAt: Date };

/** What a mail about an account says. Its words name nobody, so that a stranger who caused it cannot speak through it. */
export type AccountNews =
  | ({ readonly kind: 'verify_email' | 'change_email' | 'reset_password' | 'sign_in' } & Linked)
  | { readonly kind: 'already_registered' | 'password_changed' }
  | { readonly kind: 'email_changed'; readonly newEmail: string }
  | {
      readonly kind: 'new_device';
      readonly browser: string | null;
      readonly os: string | null;
      readonly country: string | null;
      readonly city: string | null;
      readonly at: Date;
    }
  | {
      readonly kind: 'ownership_offered';
      readonly teamName: string;
      readonly ownerName: string | null;
      readonly expiresAt: Date;
    };

const SUBJECT_NAME_LENGTH_MAX = 60;

const NOT_YOURS = 'If it was not you, reset the password at once: that ends all sessions.';

/** A mail about an account, without its recipient. Every address in it begins with BASE_URL. */
export function accountMail(news: AccountNews, baseUrl: string): Omit<Mail, 'to'> {
  const link = (path: string, label: string, { token, expiresAt }: Linked) => ({
    url: `${baseUrl}/${path}?token=${encodeURIComponent(token)}`,
    label,
    until: inUtc(expiresAt),
  });

  switch (news.kind) {
    case 'verify_email':
      return composed({
        subject: 'Verify your address',
        title: 'Verify your address',
        before: [
          'An account was requested with this email address. Open the link to verify the address and create the account.',
        ],
        link: link('verify-email', 'Verify the address', news),
        after: ['If this wasn’t you, ignore this email: without the link, no account is created for your address.'],
        baseUrl,
      });
    case 'change_email':
      return composed({
        subject: 'Confirm your new address',
        title: 'Confirm your new address',
        before: ['Somebody, hopefully you, wants an account to have this address.'],
        link: link('confirm-email', 'Confirm the address', news),
        after: ['If it was not you, do not open the link: it would give your address to the account of somebody else.'],
        baseUrl,
      });
    case 'reset_password':
      return composed({
        subject: 'Reset your password',
        title: 'Reset your password',
        before: ['A new password was requested for the account with this email address.'],
        link: link('reset-password', 'Set a new password', news),
        after: ['If this wasn’t you, you can ignore this email. The password does not change.'],
        baseUrl,
      });
    case 'sign_in':
      return composed({
        subject: 'Your sign-in link',
        title: 'Sign in',
        before: ['A sign-in link was requested for the account with this email address. It works once.'],
        link: link('sign-in-link', 'Sign in', news),
        after: ['If this wasn’t you, ignore this email. Never pass the link on: it signs in to your account.'],
        baseUrl,
      });
    case 'already_registered':
      return composed({
        subject: 'You have an account already',
        title: 'You have an account already',
        before: [
          'A new account was requested with this email address, which already has one. Nothing has changed.',
          `Sign in at ${baseUrl}. If you do not know the password, request a sign-in link or a new password there.`,
        ],
        after: ['If this wasn’t you, you can ignore this email.'],
        baseUrl,
      });
    case 'password_changed':
      return composed({
        subject: 'Your password was changed',
        title: 'Your password was changed',
        before: ['The password of the account with this address was changed. Other sessions of it have ended.'],
        after: [NOT_YOURS],
        baseUrl,
      });
    case 'email_changed':
      return composed({
        subject: 'Your address was changed',
        title: 'Your address was changed',
        before: [`The account that had this address has another one now: ${quoted(news.newEmail)}.`],
        after: ['If it was not you, turn to whoever runs this service at once.'],
        baseUrl,
      });
    case 'new_device':
      return composed({
        subject: 'Sign-in from a new browser',
        title: 'Sign-in from a new browser',
        before: [
          `Somebody signed in to the account with this address from a browser that it has not been used with before, on ${inUtc(news.at)}.`,
          `Browser: ${described(news.browser)}, system: ${described(news.os)}, place: ${described([news.city, news.country].filter(Boolean).join(', '))}.`,
        ],
        after: [NOT_YOURS],
        baseUrl,
      });
    case 'ownership_offered':
      return composed({
        subject: `You can become the owner of the team ${quoted(news.teamName, SUBJECT_NAME_LENGTH_MAX)}`,
        title: 'A team is offered to you',
        before: [
          `${news.ownerName === null ? 'The owner' : quoted(news.ownerName)} offers you the ownership of the team ${quoted(news.teamName)}.`,
          `Sign in at ${baseUrl} by ${inUtc(news.expiresAt)} to accept or to decline.`,
        ],
        after: ['Nothing changes unless you accept. The names in quotation marks were chosen by users.'],
        baseUrl,
      });
  }
}

/** What a browser says of itself is whatever its user wants it to say. */
const described = (text: string | null): string => (text ? quoted(text) : 'unknown');
