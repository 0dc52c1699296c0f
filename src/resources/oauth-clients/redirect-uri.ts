import type { ValidationEntry } from '../../errors.ts';

const MAX_LENGTH = 2000;

/** The characters of RFC 3986. URL parsers drop or rewrite others, each in its own way. */
const URI_CHARACTERS = /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[\dA-F]{2})+$/i;
const AUTHORITY = /^[^:/?#]+:\/\/([^/?#]*)/;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

type Fault = Pick<ValidationEntry, 'code' | 'params'> & {
  /** A predicate for a sentence that begins with the URI, such as "must use https.". */
  readonly detail: string;
};

/** The rules that a redirect URI is checked against. */
export type RedirectRules = {
  readonly isNative: boolean;
  /** Private-use schemes without a dot that the operator allows. */
  readonly redirectSchemes: readonly string[];
};

/**
 * Returns the fault of a redirect URI. Requests are compared with the string itself, so it must not depend on
 * normalization.
 * @returns undefined for a valid one
 */
export function findRedirectUriFault(uri: string, rules: RedirectRules): Fault | undefined {
  if (uri.length > MAX_LENGTH)
    return {
      code: 'max_length',
      params: { max: MAX_LENGTH },
      detail: `must have at most ${MAX_LENGTH} characters.`,
    };
  const parsed = URI_CHARACTERS.test(uri) ? URL.parse(uri) : null;
  if (parsed === null)
    return { code: 'invalid_format', params: { format: 'uri' }, detail: 'must be an absolute URI (RFC 3986).' };
  const authority = AUTHORITY.exec(uri)?.[1] ?? '';
  const detail = uri.includes('#')
    ? 'must have no fragment.'
    : authority.includes('@')
      ? 'must not name a user.'
      : findSchemeFault(parsed, authority, rules);
  return detail === undefined ? undefined : { code: 'invalid_value', detail };
}

function findSchemeFault(
  { protocol, hostname }: URL,
  authority: string,
  { isNative, redirectSchemes }: RedirectRules,
): string | undefined {
  if (protocol === 'https:') {
    if (authority === '') return 'must name a host.';
    // No one has a certificate for the user's own device; applications there are reached over http.
    return isNative && LOOPBACK_HOSTS.includes(hostname) ? 'must use http for the loopback address.' : undefined;
  }
  if (!isNative) return 'must use https.';
  if (protocol === 'http:') {
    // RFC 8252, section 8.3, advises against the name but allows it, and many clients use it.
    return LOOPBACK.test(authority) ? undefined : 'can use http only with 127.0.0.1, [::1] or localhost.';
  }
  // RFC 8252, section 7.1: a reversed domain, which no one else uses. No scheme that browsers know has a dot.
  const scheme = protocol.slice(0, -1);
  return scheme.includes('.') || redirectSchemes.includes(scheme)
    ? undefined
    : 'must use https, loopback http, or a scheme such as com.example.app.';
}
