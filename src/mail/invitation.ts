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

const NAME_LENGTH_MAX = 100;
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
  const invitation = `${inviter} invites you to join the team ${quoted(teamName)} with the role ${quoted(roleName)}.`;
  const until = `${DATE.format(expiresAt)} UTC`;
  const ignore =
    'If you did not expect this invitation, you can ignore this mail: nothing happens unless you accept. The names in quotation marks were chosen by users.';
  const sender = `Sent by Roster at ${baseUrl}`;

  return {
    subject: `Invitation to the team ${quoted(teamName, SUBJECT_NAME_LENGTH_MAX)}`,
    text: [invitation, `To accept, open this link by ${until}:`, link, ignore, sender].join('\n\n').concat('\n'),
    html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Invitation to a team</title></head>
<body style="font-family: sans-serif; font-size: 16px; line-height: 1.5; max-width: 36em; margin: 1em auto; padding: 0 1em">
<h1 style="font-size: 20px">Invitation to a team</h1>
<p>${escaped(invitation)}</p>
<p><a href="${escaped(link)}">Accept the invitation</a> by ${escaped(until)}, or open this address:<br>${escaped(link)}</p>
<p>${escaped(ignore)}</p>
<p>${escaped(sender)}</p>
</body>
</html>
`,
  };
}

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/**
 * A name that a user chose, made harmless for a mail: one line, bounded, in quotation marks that it
 * cannot close, and with a space after every dot and colon inside of it, so that no mail program
 * makes a link of `example.com`, `https://…` or an address.
 */
function quoted(name: string, lengthMax = NAME_LENGTH_MAX): string {
  const line = name
    .replace(/[\p{Cc}\p{Z}\s]+/gu, ' ')
    .replace(/[\p{Cf}\p{Cs}\p{Co}]/gu, '')
    .replace(/["“”„‟«»＂〝〞〟]/gu, "'")
    .replace(/([.:．。｡․﹒：﹕])(?=\S)/gu, '$1 ')
    .trim();
  const characters = Array.from(line);
  const bounded = characters.length > lengthMax ? `${characters.slice(0, lengthMax - 1).join('')}…` : line;
  return `“${bounded}”`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
