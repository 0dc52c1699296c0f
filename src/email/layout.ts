import type { Mail } from './mailer.ts';

type Content = {
  readonly subject: string;
  readonly title: string;
  /** The paragraphs before the link. */
  readonly before: readonly string[];
  readonly link?: { readonly url: string; readonly label: string; readonly until: string } | undefined;
  /** The paragraphs after the link. */
  readonly after: readonly string[];
  readonly baseUrl: string;
};

/** Renders an email as text and as HTML, without its recipient. The HTML loads no external content. */
export function renderEmail({ subject, title, before, link, after, baseUrl }: Content): Omit<Mail, 'to'> {
  const last = [...after, `Sent by Roster at ${baseUrl}`];
  const inText = link === undefined ? [] : [`To ${lowerFirst(link.label)}, open this link by ${link.until}:`, link.url];

  return {
    subject,
    text: [...before, ...inText, ...last].join('\n\n').concat('\n'),
    html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body style="font-family: sans-serif; font-size: 16px; line-height: 1.5; max-width: 36em; margin: 1em auto; padding: 0 1em">
<h1 style="font-size: 20px">${escapeHtml(title)}</h1>
${[...before.map(renderParagraph), ...(link === undefined ? [] : [renderLink(link)]), ...last.map(renderParagraph)].join('\n')}
</body>
</html>
`,
  };
}

const renderParagraph = (text: string): string => `<p>${escapeHtml(text)}</p>`;

const renderLink = ({ url, label, until }: NonNullable<Content['link']>): string =>
  `<p><a href="${escapeHtml(url)}">${escapeHtml(label)}</a> by ${escapeHtml(until)}, or open this link:<br>${escapeHtml(url)}</p>`;

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

export const formatUtc = (instant: Date): string => `${DATE.format(instant)} UTC`;

const NAME_LENGTH_MAX = 100;

/**
 * Quotes a name that a user chose, neutralised for an email: one line of limited length, in quotation marks
 * that it cannot close, with a space after every dot and colon, so that no email program turns `example.com`,
 * `https://…` or an email address into a link.
 */
export function quote(name: string, lengthMax = NAME_LENGTH_MAX): string {
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

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
