import { formatUtc, quote, renderEmail } from './layout.ts';
import type { Mail } from './mailer.ts';

type InvitationEmail = {
  readonly teamName: string;
  /** The name of the inviter; null if the account was deleted. */
  readonly inviterName: string | null;
  readonly roleName: string;
  readonly link: string;
  readonly expiresAt: Date;
  readonly baseUrl: string;
};

const SUBJECT_NAME_LENGTH_MAX = 60;

/** The URL at which the invitation is accepted. It contains only the token, never the invitation's id. */
export const getInvitationUrl = (baseUrl: string, token: string): string =>
  `${baseUrl}/invitation?token=${encodeURIComponent(token)}`;

/** Renders the email that invites to a team, without its recipient. */
export function renderInvitationEmail({
  teamName,
  inviterName,
  roleName,
  link,
  expiresAt,
  baseUrl,
}: InvitationEmail): Omit<Mail, 'to'> {
  const inviter = inviterName === null ? 'A member' : quote(inviterName);
  return renderEmail({
    subject: `Invitation to the team ${quote(teamName, SUBJECT_NAME_LENGTH_MAX)}`,
    title: 'Invitation to a team',
    before: [`${inviter} invites you to join the team ${quote(teamName)} with the role ${quote(roleName)}.`],
    link: { url: link, label: 'Accept the invitation', until: formatUtc(expiresAt) },
    after: [
      'If you did not expect this invitation, ignore this email. You join the team only if you accept. The names in quotation marks were chosen by users.',
    ],
    baseUrl,
  });
}
