/** Returns a search parameter if it is a string that is not empty. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Validates the search of a page that an emailed link opens. */
export const withToken = ({ token }: Record<string, unknown>): { token?: string } =>
  text(token) === undefined ? {} : { token: String(token) };

/** Returns the validation of a search that has only these parameters, all of them optional texts. */
export const onlyTexts =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): { [Key in Name]?: string } =>
    Object.fromEntries(
      names.map((name) => [name, text(search[name])] as const).filter(([, value]) => value !== undefined),
    ) as { [Key in Name]?: string }; // its names and texts
