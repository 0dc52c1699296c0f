import type { EmailContext } from './content.ts';
import { renderEmail, SUBJECT_NAME_LENGTH_MAX, type RenderedEmail } from './layout.ts';
import { createQuote } from './quote.ts';

type InvitationEmail = {
  readonly teamName: string;
  /** The name of the inviter; null if the account was deleted. */
  readonly inviterName: string | null;
  readonly role: { readonly id: string; readonly name: string };
  readonly link: string;
  readonly expiresAt: Date;
};

/** The URL at which the invitation is accepted. It contains only the token, never the invitation's id. */
export const getInvitationUrl = (baseUrl: string, token: string): string =>
  `${baseUrl}/invitation?token=${encodeURIComponent(token)}`;

/** Renders the email that invites to a team, without its recipient. */
export function renderInvitationEmail(
  { teamName, inviterName, role, link, expiresAt }: InvitationEmail,
  context: EmailContext,
): RenderedEmail {
  const { language, format: t } = context.messages;
  const quote = createQuote(language);
  // The built-in roles that an invitation can have. Other ids belong to roles that a team named.
  const isBuiltIn = role.id === 'member' || role.id === 'guest';
  const names = { team: quote(teamName), role: quote(isBuiltIn ? t(`role.${role.id}`) : role.name) };
  const content = {
    subject: t('invitation.subject', { team: quote(teamName, SUBJECT_NAME_LENGTH_MAX) }),
    title: t('invitation.title'),
    before: [
      inviterName === null
        ? t('invitation.happened_unnamed', names)
        : t('invitation.happened', { ...names, inviter: quote(inviterName) }),
    ],
    link: { url: link, label: t('invitation.action'), expiresAt },
    after: [`${t('invitation.otherwise')} ${t('names')}`],
  };
  return renderEmail(content, context);
}
