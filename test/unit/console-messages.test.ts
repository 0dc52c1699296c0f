import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IntlMessageFormat } from 'intl-messageformat';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { FIRST_AREAS } from '../../bin/web-build/parts-of-texts.ts';
import { PROBLEMS } from '../../src/problems/catalogue.ts';
import { LANGUAGES } from '../../src/messages/languages.ts';

type Tree = { readonly [key: string]: string | Tree };

const english = vi.hoisted(() => ({}) as Record<string, Tree>);
/** By the part of the texts in which they are loaded. */
const areas = vi.hoisted(() => ({ first: [] as string[], pages: [] as string[] }));
const define = vi.hoisted(() => (part: 'first' | 'pages') => (area: string, texts: Tree) => {
  expect(english).not.toHaveProperty(area);
  areas[part].push(area);
  return (english[area] = texts);
});
vi.mock('../../src/web/messages/define-texts.ts', () => ({ defineTexts: define('first') }));
vi.mock('../../src/web/messages/define-page-texts.ts', () => ({ definePageTexts: define('pages') }));

const WEB = join(import.meta.dirname, '../../src/web');
const MESSAGES = join(WEB, 'messages');
const MECHANISM = new Set(['define-page-texts.ts', 'define-texts.ts', 'isolate.ts', 'language.ts']);
/** Areas whose texts are chosen by a code of the service. */
const CHOSEN_BY_CODE = new Set(['faults', 'permission', 'problems', 'problemTitles', 'scope', 'systemRoles']);
const TRANSLATED = Object.keys(LANGUAGES).filter((language) => language !== 'en');

beforeAll(async () => {
  for (const file of readdirSync(MESSAGES))
    if (file.endsWith('.ts') && !file.endsWith('.d.ts') && !MECHANISM.has(file)) await import(join(MESSAGES, file));
});

const flatten = (tree: Tree, path: readonly string[] = []): (readonly [path: string, text: string])[] =>
  Object.entries(tree).flatMap(([key, part]) =>
    typeof part === 'string' ? [[[...path, key].join(' '), part] as const] : flatten(part, [...path, key]),
  );

const read = (language: string) => JSON.parse(readFileSync(join(MESSAGES, `${language}.json`), 'utf8')) as Tree;

type Element = { type: number; value: string; options?: Record<string, { value: Element[] }> };
const [LITERAL, PLURAL, POUND] = [0, 6, 7];

const parse = (text: string, language: string): Element[] =>
  new IntlMessageFormat(text, language, undefined, { ignoreTag: true }).getAst() as Element[]; // the parser's

const walk = (elements: readonly Element[]): Element[] =>
  elements.flatMap((element) => [element, ...Object.values(element.options ?? {}).flatMap(({ value }) => walk(value))]);

const placeholders = (text: string, language: string): string[] => [
  ...new Set(
    walk(parse(text, language))
      .filter(({ type }) => type !== LITERAL && type !== POUND)
      .map(({ value }) => value),
  ),
];

/** Removes shorter names of groups, unless a variable chooses a text of the group. */
const withoutAliases = (source: string): string =>
  source.replaceAll(/^const (\w+) = [\w.]+;$/gm, (line, alias: string) => (source.includes(`${alias}[`) ? line : ''));

describe('the English texts of the console', () => {
  test('are ICU messages without straight quotation marks, which would quote', () => {
    const texts = flatten(english);
    expect(texts.length).toBeGreaterThan(800);
    for (const [path, text] of texts) {
      expect(text.trim(), path).toBe(text);
      expect(text, path).not.toMatch(/['"]/);
      expect(() => parse(text, 'en'), path).not.toThrow();
    }
  });

  test('are all used', () => {
    const source = globSync('**/*.{ts,tsx}', { cwd: WEB })
      .filter((file) => !file.startsWith('messages/'))
      .map((file) => withoutAliases(readFileSync(join(WEB, file), 'utf8')))
      .join('\n');
    /** A group is used where its members are chosen by a variable: as a value, or with an index. */
    const isGroupUsed = (name: string) => new RegExp(String.raw`\.${name}(?![.\w])`).test(source);
    const unused = flatten(english).filter(([path]) => {
      const [area = '', ...names] = path.split(' ');
      if (CHOSEN_BY_CODE.has(area)) return false;
      return !new RegExp(String.raw`\.${names.at(-1)}\b`).test(source) && !names.slice(0, -1).some(isGroupUsed);
    });
    expect(unused).toEqual([]);
  });

  test('are before the sign-in those of the first part, and after it all others', () => {
    expect(areas.first.toSorted()).toEqual([...FIRST_AREAS].toSorted());
    expect(areas.pages.length).toBeGreaterThan(20);
  });

  test('have the titles of the problem documents', () => {
    for (const [code, title] of Object.entries(english['problemTitles'] ?? {}))
      expect(title, code).toBe(PROBLEMS[code as keyof typeof PROBLEMS][1].replaceAll("'", '’')); // or undefined
  });
});

test('every language but English has a file, and every file a language', () => {
  const files = readdirSync(MESSAGES).filter((name) => name.endsWith('.json'));
  expect(files.toSorted()).toEqual(TRANSLATED.map((language) => `${language}.json`).toSorted());
});

describe.each(TRANSLATED)('the texts of the console in %s', (language) => {
  let texts: ReadonlyMap<string, string>;
  beforeAll(() => {
    texts = new Map(flatten(read(language)));
  });

  test('are those of English', () => {
    expect([...texts.keys()].toSorted()).toEqual(
      flatten(english)
        .map(([path]) => path)
        .toSorted(),
    );
  });

  test('can be parsed, and have the placeholders of English', () => {
    for (const [path, source] of flatten(english)) {
      const text = texts.get(path) ?? '';
      expect(text.trim(), path).toBe(text);
      expect(text, path).not.toMatch(/['"]/);
      expect(placeholders(text, language).toSorted(), path).toEqual(placeholders(source, 'en').toSorted());
    }
  });

  // WCAG 2.5.3: users of voice control say what a button shows.
  test('name a button by what it shows and what it is for', () => {
    const named = flatten(english).filter(([path]) => path.endsWith('Of'));
    expect(named.length).toBeGreaterThan(20);
    const source = new Map(flatten(english));
    const plain = (text = '') => text.toLowerCase().replace('…', '');
    for (const [path, name] of named) {
      const shown = source.get(path.slice(0, -2));
      if (shown === undefined || !plain(name).includes(plain(shown))) continue;
      expect(plain(texts.get(path)), path).toContain(plain(texts.get(path.slice(0, -2))));
    }
  });

  test('have every plural form of the language', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    for (const [path, text] of texts)
      for (const { options } of walk(parse(text, language)).filter(({ type }) => type === PLURAL)) {
        const forms = Object.keys(options ?? {}).filter((form) => !form.startsWith('='));
        const isEveryFormNeeded = !Object.keys(options ?? {}).some((form) => form.startsWith('='));
        expect(pluralCategories, path).toEqual(expect.arrayContaining(forms));
        if (isEveryFormNeeded) expect(forms.toSorted(), path).toEqual(pluralCategories.toSorted());
        else expect(forms, path).toContain('other');
      }
  });
});
