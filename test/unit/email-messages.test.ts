import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, test } from 'vitest';
import { getEmailMessages, type EmailMessage } from '../../src/messages/email-messages.ts';
import { LANGUAGES, matchLanguage, type Language } from '../../src/messages/languages.ts';
import { contextFor, renderExamples } from '../support/email-examples.ts';

const FOLDER = join(import.meta.dirname, '../../src/messages');
const LIST = Object.keys(LANGUAGES) as Language[]; // the keys of the type

const read = (language: string) =>
  JSON.parse(readFileSync(join(FOLDER, `email.${language}.json`), 'utf8')) as Record<string, string>;
const english = read('en');

type Element = { type: number; value: string; options?: Record<string, { value: Element[] }> };
const [LITERAL, PLURAL, POUND] = [0, 6, 7];

const parse = (text: string, language: string): Element[] =>
  new IntlMessageFormat(text, language, undefined, { ignoreTag: true }).getAst() as Element[]; // the parser's

const walk = (elements: readonly Element[]): Element[] =>
  elements.flatMap((element) => [element, ...Object.values(element.options ?? {}).flatMap(({ value }) => walk(value))]);

/** The placeholders of a message with their types. */
const placeholders = (text: string, language: string): string[] =>
  [
    ...new Set(
      walk(parse(text, language)).flatMap(({ type, value }) =>
        type === LITERAL || type === POUND ? [] : `${value}:${type}`,
      ),
    ),
  ].toSorted();

test('every language has a file, and every file a language', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  expect(files.toSorted()).toEqual(LIST.map((language) => `email.${language}.json`).toSorted());
});

describe.each(LIST)('the messages of emails in %s', (language) => {
  const texts = read(language);

  test('are those of English', () => {
    expect(Object.keys(texts).toSorted()).toEqual(Object.keys(english).toSorted());
  });

  test('can be parsed, and have the placeholders of English', () => {
    for (const [key, text] of Object.entries(texts)) {
      expect(text.trim(), key).toBe(text);
      expect(text.length, key).toBeGreaterThan(1);
      // A straight apostrophe escapes in ICU messages, and a straight quotation mark looks like that of a name.
      expect(text, key).not.toMatch(/['"]/);
      expect(placeholders(text, language), key).toEqual(placeholders(english[key] ?? '', 'en'));
    }
  });

  test('have every plural form of the language', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    const plurals = Object.values(texts)
      .flatMap((text) => walk(parse(text, language)))
      .filter(({ type }) => type === PLURAL);

    expect(plurals.length).toBeGreaterThan(0);
    for (const { options } of plurals)
      expect(Object.keys(options ?? {}).toSorted()).toEqual(pluralCategories.toSorted());
  });

  test('are all used, and none is empty or without a value', () => {
    const used = new Set<EmailMessage>();
    const messages = getEmailMessages(language);
    const emails = renderExamples({
      ...contextFor(language),
      messages: { ...messages, format: (key, values) => (used.add(key), messages.format(key, values)) },
    });

    expect([...used].toSorted()).toEqual(Object.keys(texts).toSorted());
    for (const { kind, subject, text, html } of emails)
      for (const part of [subject, text, html]) expect(part, kind).not.toMatch(/undefined|null|\[object|\{\w+\}/);
  });
});

test.each(LIST.filter((language) => language !== 'en'))('the messages in %s are translated', (language) => {
  const texts = read(language);
  expect(Object.keys(texts).filter((key) => texts[key] === english[key])).toEqual([]);
});

test.each([
  [['de-CH'], 'de'],
  [['DE'], 'de'],
  [['pt'], 'pt-BR'],
  [['pt-PT'], 'pt-BR'],
  [['ar-Arab-EG'], 'ar'],
  [['zh', 'ja-JP'], 'ja'],
  [['en-US'], 'en'],
  [['tlh', 'de-AT'], 'de'],
  [['de-Latn-DE-u-ca-buddhist'], 'de'],
  [['*', 'de'], 'de'],
  [[null, undefined, '', 'not a tag', 'x-private', 'de'], 'de'],
  [['tlh'], undefined],
  [['english'], undefined],
  [['../de'], undefined],
  [[], undefined],
] as const)('the language of %j is %s', (tags, language) => {
  expect(matchLanguage(...tags)).toBe(language);
});
