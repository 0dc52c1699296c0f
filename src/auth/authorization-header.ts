const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;
const DPOP = /^dpop +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Returns the token of `Authorization: Bearer` (RFC 6750, section 2.1).
 * @returns undefined without the header; an empty string, which is never valid, for another scheme or repeated headers
 */
export const parseBearer = (rawHeaders: readonly string[]): string | undefined => parseToken(rawHeaders, BEARER);

/** Returns the token of `Authorization: DPoP` (RFC 9449, section 7.1), like `parseBearer`. */
export const parseDpopToken = (rawHeaders: readonly string[]): string | undefined => parseToken(rawHeaders, DPOP);

function parseToken(rawHeaders: readonly string[], scheme: RegExp): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    if (found !== undefined) return '';
    found = rawHeaders[i + 1] ?? '';
  }
  return found === undefined ? undefined : (scheme.exec(found)?.[1] ?? '');
}
