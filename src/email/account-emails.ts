import { inUtc, quoted, renderEmail } from './layout.ts';
import type { Mail } from './mailer.ts';
import { NOTICES, type NoticeKind } from './notices.ts';

type Link = { readonly token: string; readonly expiresAt: Date };

/**
 * The content of an email about an account. User-supplied text appears only quoted and neutralised, so that
 * whoever triggers an email cannot inject content.
 */
export type AccountEmail =
  | ({ readonly kind: 'verify_email' | 'change_email' | 'reset_password' | 'sign_in' } & Link)
  | { readonly kind: 'already_registered' | NoticeKind }
  | { readonly kind: 'email_change_requested' | 'email_changed'; readonly newEmail: string }
  | { readonly kind: 'ownership_offer_made' | 'team_deleted'; readonly teamName: string }
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

/** What to do about a change that the reader did not make. */
const RESET = 'If this wasn’t you, reset your password immediately. That signs out all sessions.';
const CONTACT = 'If this wasn’t you, contact the operator of this service immediately.';
const IGNORE = 'If this wasn’t you, you can ignore this email.';

/** Renders an email about an account, without its recipient. Every URL in it begins with BASE_URL. */
export function renderAccountEmail(email: AccountEmail, baseUrl: string): Omit<Mail, 'to' | 'id'> {
  const link = (path: string, label: string, { token, expiresAt }: Link) => ({
    url: `${baseUrl}/${path}?token=${encodeURIComponent(token)}`,
    label,
    until: inUtc(expiresAt),
  });
  const notice = (title: string, before: readonly string[], after: string) =>
    renderEmail({ subject: title, title, before, after: [after], baseUrl });

  switch (email.kind) {
    case 'verify_email':
      return renderEmail({
        subject: 'Verify your address',
        title: 'Verify your address',
        before: [
          'An account was requested with this email address. Open the link to verify the address and create the account.',
        ],
        link: link('verify-email', 'Verify the address', email),
        after: ['If this wasn’t you, ignore this email: without the link, no account is created for your address.'],
        baseUrl,
      });
    case 'change_email':
      return renderEmail({
        subject: 'Confirm your new address',
        title: 'Confirm your new address',
        before: ['An account is to be changed to this email address.'],
        link: link('confirm-email', 'Confirm the address', email),
        after: ['If this wasn’t you, do not open the link. It would give your address to someone else’s account.'],
        baseUrl,
      });
    case 'reset_password':
      return renderEmail({
        subject: 'Reset your password',
        title: 'Reset your password',
        before: ['A new password was requested for the account with this email address.'],
        link: link('reset-password', 'Set a new password', email),
        after: ['If this wasn’t you, you can ignore this email. The password does not change.'],
        baseUrl,
      });
    case 'sign_in':
      return renderEmail({
        subject: 'Your sign-in link',
        title: 'Sign in',
        before: ['A sign-in link was requested for the account with this email address. It works once.'],
        link: link('sign-in-link', 'Sign in', email),
        after: ['If this wasn’t you, ignore this email. Never pass the link on: it signs in to your account.'],
        baseUrl,
      });
    case 'already_registered':
      return notice(
        'You have an account already',
        [
          'A new account was requested with this email address, which already has one. Nothing has changed.',
          `Sign in at ${baseUrl}. If you do not know the password, request a sign-in link or a new password there.`,
        ],
        IGNORE,
      );
    case 'email_change_requested':
      return notice(
        'Your address is about to change',
        [
          `A change of your account’s email address to ${quoted(email.newEmail)} was requested. It takes effect when the link sent there is opened.`,
        ],
        'If this wasn’t you, reset your password immediately. That signs out all sessions and cancels the change.',
      );
    case 'email_changed':
      return notice(
        'Your address was changed',
        [`The email address of your account was changed to ${quoted(email.newEmail)}.`],
        CONTACT,
      );
    case 'ownership_offer_made':
      return notice(
        'You offered your team to a member',
        [
          `The ownership of your team ${quoted(email.teamName)} was offered to another member. You can withdraw the offer at ${baseUrl} until it is accepted.`,
        ],
        RESET,
      );
    case 'team_deleted':
      return notice(
        'Your team was deleted',
        [`Your team ${quoted(email.teamName)} was deleted, with its members, roles, invitations and API keys.`],
        RESET,
      );
    case 'new_device':
      return notice(
        'Sign-in from a new browser',
        [
          `Your account was signed in to from a new browser on ${inUtc(email.at)}.`,
          `Browser: ${describe(email.browser)}, system: ${describe(email.os)}, location: ${describe([email.city, email.country].filter(Boolean).join(', '))}.`,
        ],
        RESET,
      );
    case 'ownership_offered':
      return renderEmail({
        subject: `You can become the owner of the team ${quoted(email.teamName, SUBJECT_NAME_LENGTH_MAX)}`,
        title: 'A team is offered to you',
        before: [
          `${email.ownerName === null ? 'The owner' : quoted(email.ownerName)} offers you the ownership of the team ${quoted(email.teamName)}.`,
          `Sign in at ${baseUrl} by ${inUtc(email.expiresAt)} to accept or decline.`,
        ],
        after: ['If you do not want it, you can ignore this email. The names in quotation marks were chosen by users.'],
        baseUrl,
      });
    default: {
      const { title, happened, isFinal } = NOTICES[email.kind];
      return notice(title, [happened], isFinal ? CONTACT : RESET);
    }
  }
}

/** Describes what a browser reports about itself. User-Agent values are untrusted. */
const describe = (text: string | null): string => (text ? quoted(text) : 'unknown');
