/** The headers of `fetch`, or of Node.js. */
export type IncomingHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;

/** Returns the value of a header, in any case. Undefined if it is missing or was sent several times. */
export function readHeader(headers: IncomingHeaders, name: string): string | undefined {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1];
  return typeof value === 'string' ? value : undefined;
}
