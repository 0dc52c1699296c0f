import { readFile } from 'node:fs/promises';
import type { Plugin } from 'vite';

/** The areas of texts that the pages before the sign-in need. */
export const FIRST_AREAS: ReadonlySet<string> = new Set([
  'accountChanged',
  'console',
  'faults',
  'problemTitles',
  'problems',
  'proof',
  'provenMethods',
  'public',
  'remainingAccess',
]);

/** The texts of a language in two files: of the first pages, and of all others, which nobody waits for before the sign-in. */
export const PARTS = ['first', 'pages'] as const;

/** Matches a part of the texts of a language, other than English. */
export const TEXTS = /\/src\/web\/messages\/([\w-]+)\.json\?(first|pages)$/;

/** Gives `messages/<language>.json?first` and `?pages` the areas of that part. */
export const partsOfTexts = (): Plugin => ({
  name: 'parts-of-texts',
  enforce: 'pre',
  async load(id) {
    const [, , part] = TEXTS.exec(id) ?? [];
    if (part === undefined) return null;
    const file = id.slice(0, id.indexOf('?'));
    this.addWatchFile(file);
    const texts = JSON.parse(await readFile(file, 'utf8')) as Readonly<Record<string, unknown>>; // areas by name
    const areas = Object.entries(texts).filter(([area]) => FIRST_AREAS.has(area) === (part === 'first'));
    return { code: `export default ${JSON.stringify(Object.fromEntries(areas))}`, moduleType: 'js' };
  },
});
