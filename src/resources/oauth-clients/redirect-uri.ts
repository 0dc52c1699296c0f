import type { ValidationEntry } from '../../errors.ts';

const MAX_LENGTH = 2000;

/** The characters of RFC 3986. URL parsers drop or rewrite others, and each does so in its own way. */
const URI_CHARACTERS = /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[\dA-F]{2})+$/i;
const AUTHORITY = /^[^:/?#]+:\/\/([^/?#]*)/;
const LOOPBACK_IP = /^(?:127\.0\.0\.1|\[::1\])(?::\d+)?$/;
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

type Fault = Pick<ValidationEntry, 'code' | 'params'> & {
  /** A sentence that completes the words "The redirect URI". */
  readonly detail: string;
};

/**
 * What is wrong with a URI that a client wants answers to be sent to; undefined for a good one. The
 * string itself is what later requests are compared with, so that nothing in it may be in need of
 * being normalized.
 */
export function redirectUriFault(uri: string, { isNative }: { readonly isNative: boolean }): Fault | undefined {
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
      : schemeFault(parsed, authority, isNative);
  return detail === undefined ? undefined : { code: 'invalid_value', detail };
}

function schemeFault({ protocol, hostname }: URL, authority: string, isNative: boolean): string | undefined {
  if (protocol === 'https:') {
    if (authority === '') return 'must name a host.';
    // On the person's own device nobody has the certificate; what listens there is reached over http.
    return isNative && LOOPBACK_HOSTS.includes(hostname) ? 'must use http for the loopback address.' : undefined;
  }
  if (!isNative) return 'must use https.';
  if (protocol === 'http:') {
    // A name can be made to lead elsewhere (RFC 8252, section 8.3).
    return LOOPBACK_IP.test(authority) ? undefined : 'may use http with 127.0.0.1 or [::1] alone.';
  }
  // RFC 8252, section 7.1: a domain in reverse, which nobody else uses. No scheme that browsers know has a dot.
  return protocol.includes('.') ? undefined : 'must use https, loopback http, or a scheme such as com.example.app.';
}
