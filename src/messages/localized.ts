/** A text by language tag. */
type LocalizedText = Readonly<Record<string, string>>;

/**
 * Returns the text in a language: that of its tag, else of the primary language of the tag, else in English, else the
 * first.
 * @param language a language tag (BCP 47)
 */
export function chooseText(text: LocalizedText, language: string): string {
  const byTag = new Map(Object.entries(text).map(([tag, each]) => [tag.toLowerCase(), each]));
  const wanted = language.toLowerCase();
  const [primary = ''] = wanted.split('-');
  return byTag.get(wanted) ?? byTag.get(primary) ?? byTag.get('en') ?? Object.values(text)[0] ?? '';
}
