/** The first strong isolate and its end (Unicode, annex 9): text between them does not reorder the text around it. */
const [ISOLATE, END] = ['\u2068', '\u2069'];

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Isolates a name that is written from right to left, as `bdi` does for names that stand alone. */
export const isolateName = (name: string): string => (RIGHT_TO_LEFT.test(name) ? ISOLATE + name + END : name);

type Text = string | number | boolean | null | undefined;

/** Returns the texts of a page, whose functions isolate the names that they put into sentences. */
export function isolateNames<Texts extends object>(texts: Texts): Texts {
  const isolated = Object.entries(texts).map(([key, text]: [string, unknown]) => [key, isolateText(text)]);
  return Object.fromEntries(isolated) as Texts; // each entry keeps its type
}

function isolateText(text: unknown): unknown {
  if (typeof text === 'function') {
    return (...values: readonly (Text | object)[]): unknown =>
      (text as (...values: unknown[]) => unknown)(...values.map(isolateArgument)); // a text of messages/
  }
  return typeof text === 'object' && text !== null && !Array.isArray(text) ? isolateNames(text) : text;
}

function isolateArgument(value: Text | object): unknown {
  if (typeof value === 'string') return isolateName(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, isolateArgument(part as Text)]));
}
