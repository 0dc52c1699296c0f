import { composed, inUtc, quoted } from './layout.ts';
import type { Mail } from './mailer.ts';

type InvitationMail = {
  readonly teamName: string;
  /** What the inviter is called, or null when the account is gone. */
  readonly inviterName: string | null;
  readonly roleName: string;
  readonly link: string;
  readonly expiresAt: Date;
  readonly baseUrl: string;
};

const SUBJECT_NAME_LENGTH_MAX = 60;

/** Where the mail's reader accepts. The link carries the token alone, never the invitation's id. */
export const invitationLink = (baseUrl: string, token: string): string =>
  `${baseUrl}/invitation?token=${encodeURIComponent(token)}`;

/** The mail that invites somebody to a team, without its recipient. */
export function invitationMail({
  teamName,
  inviterName,
  roleName,
  link,
  expiresAt,
  baseUrl,
}: InvitationMail): Omit<Mail, 'to'> {
  const inviter = inviterName === null ? 'A member' : quoted(inviterName);
  return composed({
    subject: `Invitation to the team ${quoted(teamName, SUBJECT_NAME_LENGTH_MAX)}`,
    title: 'Invitation to a team',
    before: [`${inviter} invites you to join the team ${quoted(teamName)} with the role ${quoted(roleName)}.`],
    link: { url: link, label: 'Accept the invitation', until: inUtc(expiresAt) },
    after: [
      'If you did not expect this invitation, you can ignore this mail: nothing happens unless you accept. The names in quotation marks were chosen by users.',
    ],
    baseUrl,
  });
}
