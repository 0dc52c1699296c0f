import type { AccountEmail, Leak } from './account-email.ts';
import type { Content, EmailContext } from './content.ts';
import { renderEmail, SUBJECT_NAME_LENGTH_MAX, type RenderedEmail } from './layout.ts';
import { describeNotice } from './notice-emails.ts';
import { createQuote } from './quote.ts';

const LINK_PATHS = {
  verify_email: 'verify-email',
  change_email: 'confirm-email',
  reset_password: 'reset-password',
  sign_in: 'sign-in-link',
} as const;

/**
 * Renders an email about an account, without its recipient. User-supplied text appears only quoted and neutralised, so
 * that a caller who triggers an email cannot inject content. Every URL in it begins with BASE_URL.
 */
export const renderAccountEmail = (email: AccountEmail, context: EmailContext): RenderedEmail =>
  renderEmail(describeEmail(email, context), context);

function describeEmail(email: AccountEmail, context: EmailContext): Content {
  const { messages, baseUrl: url } = context;
  const { format: t, formatInstant } = messages;
  const quote = createQuote(messages.language);

  switch (email.kind) {
    case 'verify_email':
    case 'change_email':
    case 'reset_password':
    case 'sign_in': {
      const { kind, token, expiresAt } = email;
      return {
        title: t(`${kind}.title`),
        before: [t(`${kind}.happened`)],
        link: {
          url: `${url}/${LINK_PATHS[kind]}?token=${encodeURIComponent(token)}`,
          label: t(`${kind}.action`),
          expiresAt,
        },
        after: [t(`${kind}.otherwise`)],
      };
    }
    case 'already_registered':
      return {
        title: t('already_registered.title'),
        before: [t('already_registered.happened'), t('already_registered.next', { url })],
        after: [t('already_registered.otherwise')],
      };
    case 'webhook_disabled':
      return {
        title: t('webhook_disabled.title'),
        before: [
          t('webhook_disabled.happened', { endpoint: quote(email.url) }),
          ...(isDisableReason(email.reason) ? [t(`webhook_disabled.${email.reason}`)] : []),
          ...(email.isOfInstallation ? [t('webhook_disabled.installation')] : []),
        ],
        after: [t('webhook_disabled.next', { url: email.isOfInstallation ? `${url}/operator/webhooks` : url })],
      };
    case 'unused_keys': {
      const { keys, number } = email;
      const lines = keys.map(({ name, keyPrefix, last4, endsAt }) =>
        t('unused_keys.key', {
          name: quote(name),
          key: quote(`${keyPrefix}…${last4}`),
          until: formatInstant(new Date(endsAt)),
        }),
      );
      const rest = number - keys.length;
      return {
        title: t('unused_keys.title'),
        before: [
          t('unused_keys.happened'),
          { list: rest > 0 ? [...lines, t('unused_keys.more', { number: rest })] : lines },
        ],
        after: [t('unused_keys.next')],
      };
    }
    case 'leaked_key_revoked': {
      const key = { name: quote(email.keyName), key: quote(`${email.keyPrefix}…${email.last4}`) };
      const happened =
        email.teamName === null
          ? t('leaked_key_revoked.happened', key)
          : t('leaked_key_revoked.happened_in_team', { ...key, team: quote(email.teamName) });
      return {
        title: t('leaked_key_revoked.title'),
        before: [happened, describeLeak(email, context)],
        after: [t('leaked_key_revoked.next', { url })],
      };
    }
    case 'leaked_token_revoked':
      return {
        title: t('leaked_token_revoked.title'),
        before: [t('leaked_token_revoked.happened', { client: quote(email.clientName) }), describeLeak(email, context)],
        after: [t('leaked_token_revoked.next', { url })],
      };
    case 'new_device': {
      // User-Agent values are untrusted.
      const describe = (text: string | null) => (text ? quote(text) : t('unknown'));
      const country = email.country === null ? null : messages.nameCountry(email.country);
      const location = describe([email.city, country].filter(Boolean).join(', '));
      return {
        title: t('new_device.title'),
        before: [
          t('new_device.happened', { at: formatInstant(email.at) }),
          t('new_device.details', { browser: describe(email.browser), os: describe(email.os), location }),
        ],
        link: { url: `${url}/account#sessions`, label: t('notice.action') },
        after: [t('advice.reset')],
      };
    }
    case 'ownership_offered': {
      const { teamName, ownerName, expiresAt } = email;
      const team = quote(teamName);
      return {
        subject: t('ownership_offered.subject', { team: quote(teamName, SUBJECT_NAME_LENGTH_MAX) }),
        title: t('ownership_offered.title'),
        before: [
          ownerName === null
            ? t('ownership_offered.happened_unnamed', { team })
            : t('ownership_offered.happened', { team, owner: quote(ownerName) }),
          t('ownership_offered.next', { url, until: formatInstant(expiresAt) }),
        ],
        after: [`${t('ownership_offered.otherwise')} ${t('names')}`],
      };
    }
    default:
      return describeNotice(email, context);
  }
}

const DISABLE_REASONS = ['gone', 'failing', 'member_left'] as const;

const isDisableReason = (reason: string): reason is (typeof DISABLE_REASONS)[number] =>
  DISABLE_REASONS.some((known) => known === reason);

function describeLeak({ leak, foundAt }: Leak, { messages: { language, format } }: EmailContext): string {
  if (leak === 'holder') return format('leak.holder');
  return foundAt === null ? format('leak.github') : format('leak.github_at', { place: createQuote(language)(foundAt) });
}
