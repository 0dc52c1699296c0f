import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createQuote } from '../../src/email/quote.ts';
import { describeLanguage, LANGUAGES, type Language } from '../../src/messages/languages.ts';

type Tree = { readonly [key: string]: string | Tree };
type Made = string | ((values: object) => string) | { readonly [key: string]: Made };

const MECHANISM = new Set(['choose-language.ts', 'define-texts.ts', 'isolate.ts', 'language.ts', 'locale.ts']);
const MESSAGES = join(import.meta.dirname, '../../src/web/messages');

/** Placeholders for names that users or other services chose. */
const NAMES: ReadonlySet<string> = new Set(
  'actor client device inviter key member name person replacement role subject target team'.split(' '),
);
/** Placeholders for anything else: values of the service, formatted ones, and what the reader has entered. */
const OTHERS: ReadonlySet<string> = new Set(
  (
    'Notices active address attempts browser changes column count date day days email emails event fault field fields filter from id invited ' +
    'ipAddress label last4 level max methods milliseconds minutes names number os own pending percent permission plan position ' +
    'progress roles row rows scopes search seats seconds sought status string text time times to type units until url ' +
    'use value version window'
  ).split(' '),
);

/** Reorders text, ends quotations and lines, and shows nothing. */
const HOSTILE =
  'Acme\u202E”“»«」」„\u2069\n(verified by the operator)\u2800\u3164\u200B\u061C\u2028\u{1D159}\u{16FE4}\uFFFC';
const LEFT_OVER =
  /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200B\u200E\u200F\u202A-\u202E\u2066\u2067\u2800\u3164\u{1D159}\u{16FE4}\uFFFC]/u;
const MARKS = /[“”„«»「」]/g;

type DefineTexts = (area: string, english: Tree) => Made;

/** The texts of the console with placeholders: their English messages, and what shows them. */
async function textsIn(language: string): Promise<Text[]> {
  vi.resetModules();
  const english: Record<string, Tree> = {};
  const made: Record<string, Made> = {};
  const translation =
    language === 'en' ? {} : (JSON.parse(readFileSync(join(MESSAGES, `${language}.json`), 'utf8')) as Tree);
  const { direction } = describeLanguage(language as Language);
  vi.doMock(join(MESSAGES, 'language.ts'), () => ({ language, direction, translation, SEPARATOR: ', ' }));
  vi.doMock(join(MESSAGES, 'locale.ts'), () => ({ getLocale: () => language }));
  const { defineTexts } = await vi.importActual<{ defineTexts: DefineTexts }>(join(MESSAGES, 'define-texts.ts'));
  const define = (area: string, texts: Tree) => {
    english[area] = texts;
    return (made[area] = defineTexts(area, texts));
  };
  vi.doMock(join(MESSAGES, 'define-texts.ts'), () => ({ defineTexts: define }));
  vi.doMock(join(MESSAGES, 'define-page-texts.ts'), () => ({ definePageTexts: define }));
  const files = readdirSync(MESSAGES).filter((name) => /(?<!\.d)\.ts$/.test(name) && !MECHANISM.has(name));
  for (const file of files) await import(join(MESSAGES, file));
  return collect(english, language === 'en' ? english : translation, made, []);
}

function collect(english: Tree, shown: Tree, made: Made, path: readonly string[]): Text[] {
  return Object.entries(english).flatMap(([key, part]) => {
    const inner = [...path, key];
    const text = (made as Record<string, Made>)[key] as Made;
    if (typeof part !== 'string') return collect(part, shown[key] as Tree, text, inner);
    const placeholders = [...part.matchAll(/\{(\w+)(?=\}|, (?:plural|number))/g)].map(([, name = '']) => name);
    if (typeof text !== 'function') return [];
    const numbers = new Set([...part.matchAll(/\{(\w+), (?:plural|number)/g)].map(([, name = '']) => name));
    const names = placeholders.filter((name) => !numbers.has(name) && part.includes(`{${name}}`));
    return [{ path: inner.join('.'), english: part, message: shown[key] as string, names, numbers, show: text }];
  });
}

type Text = {
  readonly path: string;
  readonly english: string;
  readonly message: string;
  readonly names: readonly string[];
  readonly numbers: ReadonlySet<string>;
  readonly show: (values: object) => string;
};

/**
 * Texts in which a name is no part of what the service says: names of buttons and dialogs, and entries of lists. Every
 * other text is a sentence.
 */
const LABELS: ReadonlySet<string> = new Set(
  [
    'account.passkeys.renameOf account.passkeys.removeOf account.sessions.revokeOf',
    'apiKeys.createdBy apiKeys.usageOf apiKeys.usageTitle apiKeys.renameOf apiKeys.renameTitle apiKeys.scopesOf',
    'apiKeys.permissionsOf apiKeys.permissionsTitle apiKeys.changePermissionsOf',
    'apiKeys.rotatedTitle apiKeys.changeOf apiKeys.changeTitle apiKeys.rotateOf apiKeys.revokeOf',
    'audit.withKey billing.plan.addon consent.teamChoice frame.teamOf frame.commands.openTeam',
    'connectedApps.changeOf connectedApps.revokeOf developer.editOf developer.rotateOf developer.deleteOf',
    'members.roleTitle members.expiryTitle members.ownership.acceptOf members.ownership.declineOf',
    'operatorArea.teams.transferTitle operatorArea.subscription.dialog operatorArea.subscription.planOf',
    'operatorArea.members.of operatorArea.members.changeOf operatorArea.keys.revokeOf',
    'operatorArea.operatorKeys.rotatedTitle operatorArea.operatorKeys.rotateOf',
    'roles.holdersOf roles.notActive roles.editOf roles.deleteOf',
  ].flatMap((paths) => paths.split(' ')),
);

const isSentence = ({ path }: Text): boolean => !LABELS.has(path);

/** A name in each script that is written from right to left. */
const RIGHT_TO_LEFT: Readonly<Record<string, string>> = {
  Hebrew: 'משה',
  Arabic: 'محمد',
  Syriac: 'ܫܠܡܐ',
  Thaana: 'ދިވެހި',
  'N’Ko': 'ߒߞߏ',
  Samaritan: 'ࠔࠌࠓࠉࠌ',
  Mandaic: 'ࡌࡀࡍࡃࡀ',
  Adlam: '𞤀𞤁𞤂𞤢𞤃',
  'Hanifi Rohingya': '𐴌𐴗𐴥𐴝',
  Yezidi: '𐺀𐺁𐺂',
  Phoenician: '𐤊𐤍𐤏𐤍',
  'Mende Kikakui': '𞠀𞠁',
  'Arabic presentation forms': 'ﷲﻼ',
};

describe.each(Object.keys(LANGUAGES))('names in the texts of the console in %s', (language) => {
  test('cannot reorder, hide or break the text around them', async () => {
    const texts = await textsIn(language);
    expect(texts.filter(({ names }) => names.length > 0).length).toBeGreaterThan(150);
    for (const { path, names, numbers, show } of texts) {
      const values = (value: string) =>
        Object.fromEntries([...names.map((name) => [name, value]), ...[...numbers].map((name) => [name, 1])]);
      const shown = show(values(HOSTILE));
      expect(shown, path).not.toMatch(LEFT_OVER);
      expect(shown.replaceAll(/\u2068[^\u2068\u2069]*\u2069/g, ''), path).not.toMatch(/[\u2068\u2069]/);
    }
  });

  test.for(Object.entries(RIGHT_TO_LEFT))('are isolated if they are %s', async ([, written]) => {
    let isolated = 0;
    for (const { path, names, numbers, show } of await textsIn(language)) {
      const values = [...names.map((name) => [name, written]), ...[...numbers].map((name) => [name, 1])];
      const shown = show(Object.fromEntries(values));
      const inIsolates = shown.split(`\u2068${written}\u2069`).length - 1;
      expect(shown.split(written).length - 1, path).toBe(inIsolates);
      isolated += inIsolates;
    }
    expect(isolated).toBeGreaterThan(150);
  });

  test('are in no quotation marks where the service says something in their place', async () => {
    const texts = (await textsIn(language)).filter(({ path }) => path.startsWith('audit.sentences.'));
    const { OwnWords } = await vi.importActual<{ OwnWords: new (text: string) => object }>(
      join(MESSAGES, 'define-texts.ts'),
    );
    expect(texts.length).toBeGreaterThan(50);
    for (const { path, names, show } of texts) {
      const quoted = show(Object.fromEntries(names.map((name) => [name, 'x'])));
      expect(quoted.match(MARKS)?.length, path).toBe(2 * names.length);
      expect(show(Object.fromEntries(names.map((name) => [name, new OwnWords('x')]))), path).not.toMatch(MARKS);
      const [first = '', ...others] = names;
      const mixed = { [first]: new OwnWords('x'), ...Object.fromEntries(others.map((name) => [name, HOSTILE])) };
      expect(show(mixed).match(MARKS)?.length ?? 0, path).toBe(2 * others.length);
    }
  });

  test('are in quotation marks in sentences, which they cannot end', async () => {
    const { quotes } = describeLanguage(language as Language);
    const sentences = (await textsIn(language))
      .filter(isSentence)
      .filter(({ names }) => names.some((name) => NAMES.has(name)));
    expect(sentences.length).toBeGreaterThan(50);
    for (const { path, message, names, numbers, show } of sentences) {
      for (const name of names.filter((one) => NAMES.has(one))) {
        const [open, close] = quotes;
        expect(message, path).toContain(`${open}{${name}}${close}`);
        expect(message.replaceAll(`${open}{${name}}${close}`, ''), path).not.toContain(`{${name}}`);
      }
      const values = Object.fromEntries([
        ...names.map((name) => [name, NAMES.has(name) ? HOSTILE : 'x']),
        ...[...numbers].map((name) => [name, 1]),
      ]);
      const plain = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === 1 ? 1 : 'x']));
      expect(show(values).match(MARKS), path).toEqual(show(plain).match(MARKS));
    }
  });
});

test('every label exists', async () => {
  const paths = new Set((await textsIn('en')).map(({ path }) => path));
  expect([...LABELS].filter((path) => !paths.has(path))).toEqual([]);
});

test.for(Object.entries(RIGHT_TO_LEFT))('an email isolates a name that is %s', ([, written]) => {
  expect(createQuote('en')(written)).toBe(`“\u2068${written}\u2069”`);
});

test('every placeholder is said to be a name or not', async () => {
  const all = new Set((await textsIn('en')).flatMap(({ names }) => names));
  expect([...all].filter((name) => !NAMES.has(name) && !OTHERS.has(name))).toEqual([]);
});
