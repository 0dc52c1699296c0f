import { readBy, splitList } from './values.ts';

/** Parses a URL of scheme, host and port only. A trailing slash is accepted. */
function readOrigin(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error('must be an origin, such as https://teams.example.com');
  if (url.username !== '' || url.password !== '') throw new Error('must not contain a user or password');
  if (url.pathname !== '/' || /[?#]/.test(text)) throw new Error('must not contain a path, query or fragment');
  return url;
}

/** The public origin, without a trailing slash. */
export const baseUrl = () =>
  readBy((text) => {
    const url = readOrigin(text);
    if (url.protocol === 'http:' && !isLoopback(url.hostname))
      throw new Error('must be https unless it names this machine (localhost, a name below it, 127.0.0.1, [::1])');
    return url.origin;
  });

/** Origins, as browsers serialize them. */
export const origins = () => readBy((text) => [...new Set(splitList(text).map((origin) => readOrigin(origin).origin))]);

/** Schemes that browsers handle themselves. A redirect to one would not open an application. */
const BROWSER_SCHEMES: ReadonlySet<string> = new Set(
  'about blob chrome data file filesystem ftp http https intent javascript mailto sms tel vbscript view-source ws wss'.split(
    ' ',
  ),
);

/** Private-use URI schemes, in lower case. */
export const redirectSchemes = () =>
  readBy((text) => {
    const schemes = splitList(text.toLowerCase());
    const invalid = schemes.find((scheme) => !/^[a-z][a-z0-9+.-]*$/.test(scheme) || BROWSER_SCHEMES.has(scheme));
    if (invalid !== undefined)
      throw new Error(`must be comma-separated private-use schemes, and ${invalid} is not one`);
    return schemes;
  });

/** Returns whether a host name, in the form of `URL.hostname`, is `localhost` or below it (RFC 6761, section 6.3). */
export const isLocalName = (hostname: string): boolean => /^(?:.+\.)?localhost$/.test(hostname);

/** Returns whether a host name, in the form of `URL.hostname`, always resolves to this machine. */
export function isLoopback(hostname: string): boolean {
  return isLocalName(hostname) || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/** For which hosts browsers use https alone. */
export const HSTS_SCOPES = ['off', 'host', 'subdomains'] as const;

/**
 * Returns the header `Strict-Transport-Security` (RFC 6797), for a year. `off` ends what browsers have stored. Without a
 * choice it is sent at port 443 alone, because it holds for all ports of a host (section 8.3).
 */
export function strictTransportSecurity(
  baseUrl: string,
  scope: (typeof HSTS_SCOPES)[number] | undefined,
): string | undefined {
  const { protocol, port } = new URL(baseUrl);
  if (protocol !== 'https:') return undefined;
  if (scope === undefined) return port === '' ? 'max-age=31536000' : undefined;
  if (scope === 'off') return 'max-age=0';
  return `max-age=31536000${scope === 'subdomains' ? '; includeSubDomains' : ''}`;
}
