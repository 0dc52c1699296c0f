import { IntlMessageFormat } from 'intl-messageformat';
import { isolateName, isolateQuoted } from './isolate.ts';
import { translation } from './language.ts';
import { getLocale } from './locale.ts';

/** Words of the service in place of a name, such as “The service”. They are not quoted, so that no name looks like them. */
export class OwnWords {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | OwnWords;

/** The texts of a part of the console: strings, and groups of strings. */
export type Tree = { readonly [key: string]: string | Tree };

/** What ends before a form of a plural, such as `{count, plural, one {1 member} other {# members}}`. */
type BeforeForm = `${string}${', plural, ' | '} '}${'zero' | 'one' | 'two' | 'few' | 'many' | 'other' | `=${number}`} `;

/** The name and type of the placeholder that a `{` of an ICU message begins. */
type Placeholder<Before extends string, After extends string> = Before extends BeforeForm
  ? unknown
  : After extends `${infer Name}, ${'plural' | 'number'}${string}`
    ? { readonly [name in Name]: number }
    : After extends `${infer Name}}${string}`
      ? { readonly [name in Name]: Value }
      : unknown;

type Values<Text extends string, Found = unknown> = Text extends `${infer Before}{${infer After}`
  ? Values<After, Found & Placeholder<Before, After extends `${infer Until}{${string}` ? Until : After>>
  : Found;

type IsUnion<Name, All = Name> = Name extends unknown ? ([All] extends [Name] ? false : true) : never;

/** A text is a string. With a placeholder it is a function of the value, with several of the values by name. */
type Formatted<Text extends string> = keyof Values<Text> extends never
  ? string
  : IsUnion<keyof Values<Text>> extends true
    ? (values: { readonly [Name in keyof Values<Text>]: Values<Text>[Name] }) => string
    : (
        value: Values<Text>[keyof Values<Text>] | { readonly [Name in keyof Values<Text>]: Values<Text>[Name] },
      ) => string;

export type Texts<Given> = {
  readonly [Key in keyof Given]: Given[Key] extends string ? Formatted<Given[Key]> : Texts<Given[Key]>;
};

/**
 * Returns texts in the language of the reader. Values cannot reorder or break the text, nor end their quotation.
 * @param area the member of `<language>.json` with the translations
 * @param english ICU messages. A straight apostrophe would quote the text after it; write `’`
 */
export const defineTexts = <const Given extends Tree>(area: string, english: Given): Texts<Given> =>
  toTexts(english, translation[area]) as Texts<Given>; // as the types compute

export function toTexts(english: string | Tree, translated: string | Tree | undefined): unknown {
  if (typeof english === 'string') {
    const text = typeof translated === 'string' ? translated : english;
    return english.includes('{') ? toFunction(text, namesIn(english)) : text;
  }
  const inner = typeof translated === 'object' ? translated : {};
  return Object.fromEntries(Object.entries(english).map(([key, part]) => [key, toTexts(part, inner[key])]));
}

function toFunction(text: string, names: readonly string[]) {
  /** By the placeholders for which own words are given. */
  const formats = new Map<string, IntlMessageFormat>();
  let formatLocale: string | undefined;
  const quoted: ReadonlySet<string> = new Set([...text.matchAll(QUOTED)].map(([, name = '']) => name));
  return (given: Value | Readonly<Record<string, Value>>): string => {
    const values = typeof given === 'object' && !(given instanceof OwnWords) ? given : { [names[0] ?? '']: given };
    // That of the account is known later than that of the browser.
    if (formatLocale !== getLocale()) formats.clear();
    formatLocale = getLocale();
    const own = Object.keys(values).filter((name) => values[name] instanceof OwnWords);
    const format = formats.get(own.join()) ?? toFormat(unquote(text, own), formatLocale);
    formats.set(own.join(), format);
    const isolated = Object.entries(values).map(([name, value]) => [
      name,
      value instanceof OwnWords
        ? isolateName(value.text)
        : typeof value === 'number'
          ? value
          : quoted.has(name)
            ? isolateQuoted(value)
            : isolateName(value),
    ]);
    return String(format.format(Object.fromEntries(isolated)));
  };
}

/** A placeholder in quotation marks of one of the languages. */
const QUOTED = /[“„«「]\u00a0?\{(\w+)\}\u00a0?[”“»」]/g;

// Without tags, `<` in a message is text.
const toFormat = (message: string, locale: string) =>
  new IntlMessageFormat(message, locale, undefined, { ignoreTag: true });

const unquote = (message: string, names: readonly string[]): string =>
  message.replace(QUOTED, (quoted, name: string) => (names.includes(name) ? `{${name}}` : quoted));

const namesIn = (message: string): readonly string[] =>
  [
    ...message.matchAll(
      /(?<!(?:, plural, |\} )(?:zero|one|two|few|many|other|=\d+) )\{(\w+)(?:\}|, (?:plural|number))/g,
    ),
  ].map(([, name = '']) => name);
