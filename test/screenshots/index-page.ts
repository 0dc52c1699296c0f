import type { Comparison } from './compare.ts';

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const list = (title: string, folder: string, pictures: readonly string[]) =>
  pictures.length === 0
    ? ''
    : `<h2>${title} (${pictures.length})</h2><ul>${pictures
        .map((name) => `<li><a href="${folder}/${name}">${name}</a></li>`)
        .join('')}</ul>`;

const figure = (folder: string, picture: string) =>
  `<figure><figcaption>${folder}</figcaption><a href="${folder}/${picture}"><img loading="lazy" alt="" src="${folder}/${picture}"></a></figure>`;

/** Renders the page that shows each changed picture before, after and as the difference. */
export function renderIndex({ same, changed, added, removed }: Comparison, before: string): string {
  const rows = changed.map(
    ([picture, pixels]) =>
      `<section><h3>${picture}: ${pixels} pixels</h3><div>${['before', 'after', 'differences'].map((folder) => figure(folder, picture)).join('')}</div></section>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Pictures of the console</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 1rem }
  div { display: grid; grid-template-columns: repeat(3, 1fr); gap: 1rem }
  figure { margin: 0 } img { max-width: 100%; border: 1px solid gray }
</style>
<h1>Pictures of the console, against ${escape(before)}</h1>
<p>${changed.length} changed, ${added.length} new, ${removed.length} removed, ${same.length} the same.</p>
${rows.join('\n')}
${list('New', 'after', added)}
${list('Removed', 'before', removed)}
</html>
`;
}
