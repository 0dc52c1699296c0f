import { describeLanguage } from '../messages/languages.ts';
import type { Block, Content, EmailContext } from './content.ts';
import { createEmailColors, renderStyleSheet, type EmailColors } from './theme.ts';

type HtmlContent = Omit<Content, 'subject' | 'link'> & {
  readonly link: (NonNullable<Content['link']> & { readonly until: string | undefined }) | undefined;
  readonly sentBy: string;
};

const FONTS: Readonly<Record<string, string>> = {
  ja: `'Hiragino Sans','Hiragino Kaku Gothic ProN','Noto Sans CJK JP','Noto Sans JP','Yu Gothic',Meiryo,sans-serif`,
  ar: `'Segoe UI',Tahoma,'Geeza Pro','Noto Sans Arabic','Noto Naskh Arabic',Arial,sans-serif`,
};
const FONT = `-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Noto Sans',Helvetica,Arial,sans-serif`;

/**
 * Renders an email as HTML of tables with a style on every element, because many email programs ignore the rest.
 * It loads nothing, and all its links begin with BASE_URL.
 */
export function renderHtml({ title, before, link, after, sentBy }: HtmlContent, context: EmailContext): string {
  const { messages, brand, baseUrl } = context;
  const { language } = messages;
  const { direction } = describeLanguage(language);
  const colors = createEmailColors(brand.color);
  const { light } = colors;
  const render = createBlocks(light, direction, baseUrl, `font-family:${FONTS[language] ?? FONT}`);

  const card = [
    render.heading(title),
    ...before.map(render.block),
    ...(link === undefined
      ? []
      : [render.button(link), ...(link.until === undefined ? [] : [render.block(link.until)])]),
    ...after.map(render.block),
    ...(link === undefined ? [] : [render.fallback(messages.format('link.fallback'), link)]),
  ];

  return `<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title>
<style>
${renderStyleSheet(colors)}
</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:${light.page}">
<div lang="${language}" dir="${direction}">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:${light.page}"><tr><td align="center" style="padding:32px 12px">
<!--[if mso]><table role="presentation" width="560" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px">
<tr><td style="padding:0 4px 16px">${render.line(brand.name, 'brand', `font-size:20px;font-weight:700;color:${light.brand}`)}</td></tr>
<tr><td class="card" style="background-color:${light.card};border:1px solid ${light.line};border-radius:10px;overflow:hidden">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
<tr><td class="bar" height="4" style="height:4px;font-size:0;line-height:0;background-color:${light.brand}">&nbsp;</td></tr>
<tr><td class="card-content" style="padding:32px 36px 16px">
${card.join('\n')}
</td></tr>
</table>
</td></tr>
<tr><td style="padding:16px 4px 0">${render.line(sentBy, 'muted', `font-size:13px;color:${light.muted}`)}</td></tr>
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr></table>
</div>
</body>
</html>
`;
}

/** Creates the renderers of the parts of an email in its colors, direction and font. */
function createBlocks(light: EmailColors, direction: 'ltr' | 'rtl', baseUrl: string, font: string) {
  const align = `text-align:${direction === 'rtl' ? 'right' : 'left'}`;
  const inText = `color:${light.text}`;
  const body = `${font};${align};font-size:16px;line-height:1.6;${inText}`;
  const toLink = (url: string, name: 'brand' | 'muted' = 'brand') =>
    `<a class="${name}" dir="ltr" href="${url}" style="color:${light[name]};word-break:break-all">${url}</a>`;
  // A name cannot contain the URL, because `quote` breaks URLs.
  const withLinks = (text: string, name?: 'muted') =>
    escapeHtml(text).replaceAll(baseUrl, toLink(escapeHtml(baseUrl), name));

  return {
    heading: (text: string) =>
      `<h1 class="text" style="margin:0 0 16px;${font};${align};font-size:22px;line-height:1.35;font-weight:700;${inText}">${escapeHtml(text)}</h1>`,

    block: (block: Block): string =>
      typeof block === 'string'
        ? `<p class="text" style="margin:0 0 16px;${body}">${withLinks(block)}</p>`
        : `<ul class="text" style="margin:0 0 16px;padding:0 20px;${body}">${block.list.map((line) => `<li>${withLinks(line)}</li>`).join('')}</ul>`,

    button: ({ url, label }: NonNullable<HtmlContent['link']>) =>
      `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 24px"><tr><td class="button" bgcolor="${light.brand}" style="border-radius:8px;background-color:${light.brand}"><a class="button label" href="${escapeHtml(url)}" style="display:inline-block;padding:13px 26px;border-radius:8px;${font};font-size:16px;line-height:1.3;font-weight:600;text-decoration:none;background-color:${light.brand};color:${light.onBrand}">${escapeHtml(label)}</a></td></tr></table>`,

    fallback: (text: string, { url }: NonNullable<HtmlContent['link']>) =>
      `<p class="muted line" style="margin:24px 0 16px;padding-top:16px;border-top:1px solid ${light.line};${font};${align};font-size:14px;line-height:1.5;color:${light.muted}">${escapeHtml(text)}<br>${toLink(escapeHtml(url))}</p>`,

    line: (text: string, name: 'brand' | 'muted', style: string) =>
      `<p class="${name}" style="margin:0;${font};${align};line-height:1.5;${style}">${withLinks(text, 'muted')}</p>`,
  };
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
