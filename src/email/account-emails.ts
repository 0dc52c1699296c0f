import { formatUtc, quote, renderEmail } from './layout.ts';
import type { Mail } from './mailer.ts';
import { NOTICES, type LeakSource, type NoticeKind } from './notices.ts';

type Link = { readonly token: string; readonly expiresAt: Date };

/** `foundAt` is the URL where GitHub found the secret. */
type Leak = { readonly leak: LeakSource; readonly foundAt: string | null };

/**
 * The content of an email about an account. User-supplied text appears only quoted and neutralised, so that
 * whoever triggers an email cannot inject content.
 */
export type AccountEmail =
  | ({ readonly kind: 'verify_email' | 'change_email' | 'reset_password' | 'sign_in' } & Link)
  | { readonly kind: 'already_registered' | NoticeKind }
  | { readonly kind: 'email_change_requested' | 'email_changed'; readonly newEmail: string }
  | { readonly kind: 'ownership_offer_made' | 'team_deleted'; readonly teamName: string }
  | { readonly kind: 'webhook_disabled'; readonly url: string; readonly reason: string }
  | {
      readonly kind: 'unused_keys';
      /** `endsAt` is in ISO 8601. */
      readonly keys: readonly Readonly<Record<'name' | 'keyPrefix' | 'last4' | 'endsAt', string>>[];
      /** All of them, of which `keys` can be the first. */
      readonly number: number;
    }
  | ({
      readonly kind: 'leaked_key_revoked';
      readonly keyName: string;
      readonly keyPrefix: string;
      readonly last4: string;
      readonly teamName: string | null;
    } & Leak)
  | ({ readonly kind: 'leaked_token_revoked'; readonly clientName: string } & Leak)
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

const WEBHOOK_REASONS: Readonly<Record<string, string>> = {
  gone: 'it answered 410 Gone',
  failing: 'no delivery succeeded for five days',
  member_left: 'the member who was responsible for it left the team',
};

const describeLeak = ({ leak, foundAt }: Leak): string =>
  leak === 'holder'
    ? 'someone who holds it reported it, or the application that uses it did'
    : `GitHub found it in a public place${foundAt === null ? '' : `: ${quote(foundAt)}`}`;

/** What the reader can do if someone else caused the email. */
const RESET = 'If this wasn’t you, reset your password immediately. That signs out all sessions.';
const CONTACT = 'If this wasn’t you, contact the operator of this service immediately.';
const IGNORE = 'If this wasn’t you, ignore this email.';

/** Renders an email about an account, without its recipient. Every URL in it begins with BASE_URL. */
export function renderAccountEmail(email: AccountEmail, baseUrl: string): Omit<Mail, 'to' | 'id'> {
  const link = (path: string, label: string, { token, expiresAt }: Link) => ({
    url: `${baseUrl}/${path}?token=${encodeURIComponent(token)}`,
    label,
    until: formatUtc(expiresAt),
  });
  const notice = (title: string, before: readonly string[], after: string) =>
    renderEmail({ subject: title, title, before, after: [after], baseUrl });

  switch (email.kind) {
    case 'verify_email':
      return renderEmail({
        subject: 'Verify your email address',
        title: 'Verify your email address',
        before: ['An account was requested with this email address.'],
        link: link('verify-email', 'Verify your email address', email),
        after: ['If this wasn’t you, ignore this email. No account will be created.'],
        baseUrl,
      });
    case 'change_email':
      return renderEmail({
        subject: 'Confirm your new email address',
        title: 'Confirm your new email address',
        before: ['A change of an account’s email address to this one was requested.'],
        link: link('confirm-email', 'Confirm your new email address', email),
        after: [
          'If this wasn’t you, ignore this email and do not open the link. It would connect your email address to someone else’s account.',
        ],
        baseUrl,
      });
    case 'reset_password':
      return renderEmail({
        subject: 'Reset your password',
        title: 'Reset your password',
        before: ['A new password was requested for the account with this email address.'],
        link: link('reset-password', 'Choose a new password', email),
        after: ['If this wasn’t you, ignore this email. Your password will not change.'],
        baseUrl,
      });
    case 'sign_in':
      return renderEmail({
        subject: 'Your sign-in link',
        title: 'Sign in',
        before: ['A sign-in link was requested for the account with this email address. You can use it once.'],
        link: link('sign-in-link', 'Sign in', email),
        after: ['If this wasn’t you, ignore this email. Do not share the link, because it signs in to your account.'],
        baseUrl,
      });
    case 'already_registered':
      return notice(
        'You already have an account',
        [
          'A new account was requested with this email address, which already has one. Nothing was changed.',
          `Sign in at ${baseUrl}. If you do not know your password, request a sign-in link or a new password there.`,
        ],
        IGNORE,
      );
    case 'email_change_requested':
      return notice(
        'Change of your email address requested',
        [
          `A change of your account’s email address to ${quote(email.newEmail)} was requested. It takes effect when the link that was sent there is opened.`,
        ],
        'If this wasn’t you, reset your password immediately. That signs out all sessions and cancels the change.',
      );
    case 'email_changed':
      return notice(
        'Your email address was changed',
        [`The email address of your account was changed to ${quote(email.newEmail)}.`],
        CONTACT,
      );
    case 'ownership_offer_made':
      return notice(
        'Ownership of your team was offered',
        [
          `The ownership of your team ${quote(email.teamName)} was offered to another member. You can withdraw the offer at ${baseUrl} until it is accepted.`,
        ],
        RESET,
      );
    case 'team_deleted':
      return notice(
        'Your team was deleted',
        [`Your team ${quote(email.teamName)} was deleted, with its members, roles, invitations and API keys.`],
        RESET,
      );
    case 'webhook_disabled':
      return notice(
        'A webhook endpoint was disabled',
        [
          `The webhook endpoint ${quote(email.url)} was disabled, because ${WEBHOOK_REASONS[email.reason] ?? 'it could not be used'}. It gets no events until you resume it.`,
        ],
        `Correct the receiver, resume the endpoint at ${baseUrl}, and replay what failed.`,
      );
    case 'unused_keys':
      return notice(
        'Unused API keys will be revoked',
        [
          'These API keys of your account were not used for a long time and will be revoked:',
          ...email.keys.map(
            ({ name, keyPrefix, last4, endsAt }) =>
              `${quote(name)} (${quote(`${keyPrefix}…${last4}`)}) on ${formatUtc(new Date(endsAt))}`,
          ),
          ...(email.number > email.keys.length ? [`and ${email.number - email.keys.length} more`] : []),
        ],
        'A key that is used before then is kept. If you do not need the keys, you do not have to do anything.',
      );
    case 'leaked_key_revoked':
      return notice(
        'A leaked API key was revoked',
        [
          `The API key ${quote(email.keyName)} (${quote(`${email.keyPrefix}…${email.last4}`)})${email.teamName === null ? '' : ` of the team ${quote(email.teamName)}`} was revoked, because ${describeLeak(email)}.`,
          'Requests with it are denied now.',
        ],
        `Create a new key at ${baseUrl}, and check in the audit log what the old one was used for.`,
      );
    case 'leaked_token_revoked':
      return notice(
        'Access of an application was revoked',
        [
          `The access of the application ${quote(email.clientName)} to your account was revoked, because one of its tokens leaked: ${describeLeak(email)}.`,
        ],
        `Connect the application again if you trust it. Check at ${baseUrl} what else has access to your account.`,
      );
    case 'new_device':
      return notice(
        'Sign-in from a new browser',
        [
          `A new browser signed in to your account on ${formatUtc(email.at)}.`,
          `Browser: ${describe(email.browser)}, system: ${describe(email.os)}, location: ${describe([email.city, email.country].filter(Boolean).join(', '))}.`,
        ],
        RESET,
      );
    case 'ownership_offered':
      return renderEmail({
        subject: `Ownership offer for the team ${quote(email.teamName, SUBJECT_NAME_LENGTH_MAX)}`,
        title: 'Ownership offer for a team',
        before: [
          `${email.ownerName === null ? 'The owner' : quote(email.ownerName)} offers you the ownership of the team ${quote(email.teamName)}.`,
          `Sign in at ${baseUrl} by ${formatUtc(email.expiresAt)} to accept or decline.`,
        ],
        after: [
          'If you did not expect this offer, ignore this email. The names in quotation marks were chosen by users.',
        ],
        baseUrl,
      });
    default: {
      const { title, happened, isFinal } = NOTICES[email.kind];
      return notice(title, [happened], isFinal ? CONTACT : RESET);
    }
  }
}

/** Describes what a browser reports about itself. User-Agent values are untrusted. */
const describe = (text: string | null): string => (text ? quote(text) : 'unknown');
