const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;
const DPOP = /^dpop +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * The string of `Authorization: Bearer` (RFC 6750, section 2.1): undefined where none was sent, and
 * empty, which no secret is, for what cannot be used: another scheme, or two headers.
 */
export const bearerOf = (rawHeaders: readonly string[]): string | undefined => tokenOf(rawHeaders, BEARER);

/** The string of `Authorization: DPoP` (RFC 9449, section 7.1), in the same way. */
export const dpopTokenOf = (rawHeaders: readonly string[]): string | undefined => tokenOf(rawHeaders, DPOP);

function tokenOf(rawHeaders: readonly string[], scheme: RegExp): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    if (found !== undefined) return '';
    found = rawHeaders[i + 1] ?? '';
  }
  return found === undefined ? undefined : (scheme.exec(found)?.[1] ?? '');
}
