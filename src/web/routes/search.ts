/** Returns a search parameter if it is a string that is not empty. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Validates the search of a page that an emailed link opens. */
export const withToken = ({ token }: Record<string, unknown>): { token?: string } =>
  text(token) === undefined ? {} : { token: String(token) };
