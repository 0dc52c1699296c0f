import { describe, expect, test } from 'vitest';
import { createQuote } from '../../src/email/quote.ts';
import { neutralize, toReadableJson, toVisible } from '../../src/messages/neutralize.ts';
import { isReadableName } from '../../src/procedures/fields.ts';
import { getInitials } from '../../src/web/components/initials.ts';

/** Names that are misspelled without their joiners, variation selectors and tags. */
const SPELLED: Readonly<Record<string, string>> = {
  Persian: 'می\u200cخواهم',
  Sinhala: 'ශ්\u200dරී',
  Malayalam: 'അവന്\u200d',
  'a family': '👨\u200d👩\u200d👧\u200d👦',
  'a rainbow flag': '🏳\ufe0f\u200d🌈',
  'the flag of Scotland': '\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
};

const quote = createQuote('en');
const inQuotes = (name: string): string => name.replaceAll(/[“”\u2068\u2069]/g, '');

// Guarantees that a name is shown as its owner spells it.
describe.each(Object.entries(SPELLED))('%s', (_what, name) => {
  test('can be a name', () => {
    expect(isReadableName(name)).toBe(true);
  });

  test('is spelled the same in an email, on a page and in JSON', () => {
    expect(inQuotes(quote(name))).toBe(name);
    expect(neutralize(name)).toBe(name);
    expect(JSON.parse(toReadableJson(JSON.stringify(name)))).toBe(name);
  });

  test('is cut between its characters, as readers see them', () => {
    const clusters = Array.from(new Intl.Segmenter().segment(name), ({ segment }) => segment);
    const beginnings = clusters.map((_, index) => `${clusters.slice(0, index).join('')}…`);
    for (let length = 1; length < Array.from(name).length; length += 1)
      expect(beginnings).toContain(inQuotes(quote(name, length)));
    expect(inQuotes(quote(name, Array.from(name).length))).toBe(name);
  });
});

test.each([
  ['Ada Lovelace', 'AL'],
  ['A & B', 'AB'],
  ['ada', 'AD'],
  ['𞤀𞤁𞤂', '𞤀𞤁'],
  ['👨\u200d👩\u200d👧\u200d👦', '👨\u200d👩\u200d👧\u200d👦'],
])('the initials of %s are %s', (name, initials) => {
  expect(getInitials(name)).toBe(initials);
});

test('tags that are in no flag are neither shown nor printed', () => {
  for (const name of [
    'Acme\u{e0041}',
    '\u{1f3f4}\u{e0041}\u{e0042}\u{e0043}\u{e007f}',
    '\u{1f3f4}\u{e0067}\u{e0062}',
  ]) {
    expect(isReadableName(name)).toBe(false);
    expect(neutralize(name)).not.toMatch(/[\u{e0000}-\u{e007f}]/u);
    expect(quote(name)).not.toMatch(/[\u{e0000}-\u{e007f}]/u);
    expect(toVisible(name)).not.toMatch(/[\u{e0000}-\u{e007f}]/u);
  }
});

test('a cut name has at most its length, however many marks a character has', () => {
  expect(quote(`a${'\u0301'.repeat(200)}`, 60)).toBe('“…”');
  expect(Array.from(inQuotes(quote('🏔'.repeat(500), 60)))).toHaveLength(60);
});
