import type { Config } from '../../config/config.ts';
import type { ValidationEntry } from '../../problems/error.ts';

const MAX_LENGTH = 2000;

/** The characters of RFC 3986. URL parsers drop or rewrite others, each in its own way. */
const URI_CHARACTERS = /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[\dA-F]{2})+$/i;
const AUTHORITY = /^[^:/?#]+:\/\/([^/?#]*)/;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
/** Names below `localhost`, which browsers resolve to the user’s own device (RFC 6761, section 6.3). */
const LOCAL_NAME = /^(?:[a-z\d-]+\.)+localhost(?::\d+)?$/;
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

type Fault = Pick<ValidationEntry, 'code' | 'params'> & {
  /** A predicate for a sentence that begins with the URI, such as "must use https.". */
  readonly detail: string;
};

/** The rules that a redirect URI is checked against. */
export type RedirectRules = {
  readonly isNative: boolean;
  /** Whether loopback addresses are allowed for clients that are not native, too: see `allowsLoopback`. */
  readonly allowsLoopback: boolean;
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

/** Whether applications in development can use a client, on servers and in pages: those of `http://localhost`. */
export const allowsLoopback = (
  config: Pick<Config, 'isDevelopment'>,
  { isDevelopment }: { readonly isDevelopment: boolean },
): boolean => config.isDevelopment || isDevelopment;

/** Whether a URI is one of `http` at the user's own device. */
export const isLoopbackUri = (uri: string): boolean =>
  LOOPBACK_URI.test(uri) || (uri.startsWith('http:') && LOCAL_NAME.test(AUTHORITY.exec(uri)?.[1] ?? ''));

/**
 * Returns whether a page of an origin, or the web view of an application on a device, is one of a client: it has a redirect
 * URI there, on the same loopback host at any port, or with the same private-use scheme, such as `capacitor://localhost`.
 * The origin `null` is none, because every sandboxed page has it.
 */
export function isPageOfClient(redirectUris: readonly string[], origin: string): boolean {
  const page = removeLoopbackPort(origin);
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\/[^/?#]*$/i.exec(origin) ?? [];
  const isOfApplication = scheme !== undefined && !/^https?$/i.test(scheme);
  return (
    hasOrigin(redirectUris, origin) ||
    (page !== null && redirectUris.some((uri) => LOOPBACK_URI.exec(uri)?.[1] === page)) ||
    (isOfApplication && redirectUris.some((uri) => uri.toLowerCase().startsWith(`${scheme.toLowerCase()}:`)))
  );
}

/** Returns whether a client has a redirect URI of an origin, over https or on the user's own device. */
const hasOrigin = (redirectUris: readonly string[], origin: string): boolean =>
  redirectUris.some((uri) => (uri.startsWith('https:') || isLoopbackUri(uri)) && URL.parse(uri)?.origin === origin);

type Registered = { readonly redirectUris: readonly string[]; readonly isNative: boolean };

/** Returns whether a client has a redirect URI now. For a native one, the port of the loopback address does not count. */
export function hasRedirectUri({ redirectUris, isNative }: Registered, uri: string): boolean {
  if (redirectUris.includes(uri)) return true;
  const asked = removeLoopbackPort(uri);
  return isNative && asked !== null && redirectUris.some((registered) => removeLoopbackPort(registered) === asked);
}

const LOOPBACK_URI = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d+)?(?=[/?]|$)/;

const removeLoopbackPort = (uri: string): string | null =>
  LOOPBACK_URI.test(uri) ? uri.replace(LOOPBACK_URI, '$1') : null;

function findSchemeFault(
  { protocol, hostname }: URL,
  authority: string,
  { isNative, allowsLoopback: isOpen, redirectSchemes }: RedirectRules,
): string | undefined {
  if (protocol === 'https:') {
    if (authority === '') return 'must name a host.';
    // No one has a certificate for the user's own device; applications there are reached over http.
    return isNative && LOOPBACK_HOSTS.includes(hostname) ? 'must use http for the loopback address.' : undefined;
  }
  if (protocol === 'http:' && (isNative || isOpen)) {
    // RFC 8252, section 8.3, advises against the name but allows it, and many clients use it.
    // Names below it are for development on several host names. Applications on devices need none.
    const isLocal = LOOPBACK.test(authority) || (!isNative && LOCAL_NAME.test(authority));
    return isLocal ? undefined : 'can use http only with 127.0.0.1, [::1] or localhost.';
  }
  if (!isNative)
    return protocol === 'http:' && (LOOPBACK.test(authority) || LOCAL_NAME.test(authority))
      ? 'must use https. Only clients for development can use http on this device: the operator creates one with `--development` or `isDevelopment`.'
      : 'must use https.';
  // RFC 8252, section 7.1: a reversed domain, which no one else uses. No scheme that browsers know has a dot.
  const scheme = protocol.slice(0, -1);
  return scheme.includes('.') || redirectSchemes.includes(scheme)
    ? undefined
    : 'must use https, loopback http, or a scheme such as com.example.app.';
}
