import type { Content, EmailContext } from './content.ts';
import { renderHtml } from './html.ts';
import type { Mail } from './mailer.ts';

export type RenderedEmail = Omit<Mail, 'to' | 'id'>;

export const SUBJECT_NAME_LENGTH_MAX = 60;

/** Renders an email as text and as HTML, without its recipient. The HTML loads no external content. */
export function renderEmail(content: Content, context: EmailContext): RenderedEmail {
  const { subject, title, before, link, after } = content;
  const { messages, brand, baseUrl } = context;
  const until = link?.expiresAt && messages.format('link.until', { until: messages.formatInstant(link.expiresAt) });
  const sentBy = messages.format('sent_by', { brand: brand.name, url: baseUrl });
  const text = [
    ...before.map((block) => (typeof block === 'string' ? block : block.list.map((line) => `- ${line}`).join('\n'))),
    ...(link === undefined ? [] : [`${link.label}:\n${link.url}`]),
    ...(until === undefined ? [] : [until]),
    ...after,
    sentBy,
  ];

  return {
    subject: subject ?? title,
    text: text.join('\n\n').concat('\n'),
    html: renderHtml({ title, before, link: link && { ...link, until }, after, sentBy }, context),
  };
}
