import { IntlMessageFormat } from 'intl-messageformat';
import { isolateName } from './isolate.ts';
import { translation } from './language.ts';
import { getLocale } from './locale.ts';

type Value = string | number;

/** The texts of a part of the console: strings, and groups of strings. */
type Tree = { readonly [key: string]: string | Tree };

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

type Texts<Given> = {
  readonly [Key in keyof Given]: Given[Key] extends string ? Formatted<Given[Key]> : Texts<Given[Key]>;
};

/**
 * Returns texts in the language of the reader. Names from right-to-left scripts are isolated.
 * @param area the member of `<language>.json` with the translations
 * @param english ICU messages. A straight apostrophe would quote the text after it; write `’`
 */
export const defineTexts = <const Given extends Tree>(area: string, english: Given): Texts<Given> =>
  toTexts(english, translation[area]) as Texts<Given>; // as the types compute

function toTexts(english: string | Tree, translated: string | Tree | undefined): unknown {
  if (typeof english === 'string') {
    const text = typeof translated === 'string' ? translated : english;
    return english.includes('{') ? toFunction(text, namesIn(english)) : text;
  }
  const inner = typeof translated === 'object' ? translated : {};
  return Object.fromEntries(Object.entries(english).map(([key, part]) => [key, toTexts(part, inner[key])]));
}

function toFunction(text: string, names: readonly string[]) {
  let format: IntlMessageFormat | undefined;
  let formatLocale: string | undefined;
  return (given: Value | Readonly<Record<string, Value>>): string => {
    // That of the account is known later than that of the browser.
    if (format === undefined || formatLocale !== getLocale()) {
      formatLocale = getLocale();
      // Without tags, `<` in a message is text.
      format = new IntlMessageFormat(text, formatLocale, undefined, { ignoreTag: true });
    }
    const values = typeof given === 'object' ? given : { [names[0] ?? '']: given };
    const isolated = Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? isolateName(value) : value,
    ]);
    return String(format.format(Object.fromEntries(isolated)));
  };
}

const namesIn = (message: string): readonly string[] =>
  [
    ...message.matchAll(
      /(?<!(?:, plural, |\} )(?:zero|one|two|few|many|other|=\d+) )\{(\w+)(?:\}|, (?:plural|number))/g,
    ),
  ].map(([, name = '']) => name);
