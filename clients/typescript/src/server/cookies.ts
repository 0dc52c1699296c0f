import { RosterAccessError } from './errors.ts';

/** What browsers store of one cookie: 4,096 bytes with its name and attributes (RFC 6265, section 6.1). */
const PART_LENGTH = 3600;
/** Servers accept 16 KB of headers in all. */
const PARTS_MAX = 3;

/** Returns the cookies of a request. */
export function readCookies(headers: Headers): ReadonlyMap<string, string> {
  const pairs = (headers.get('cookie') ?? '').split(';').map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const;
  });
  return new Map(pairs.filter(([name]) => name !== ''));
}

/** Reads a value that `writeParts` divided. */
export function readParts(cookies: ReadonlyMap<string, string>, name: string): string | undefined {
  const [, count, first] = /^([1-9])\.(.*)$/.exec(cookies.get(name) ?? '') ?? [];
  if (count === undefined || first === undefined) return undefined;
  const others = Array.from({ length: Number(count) - 1 }, (_, i) => cookies.get(`${name}.${i + 1}`));
  return others.includes(undefined) ? undefined : first + others.join('');
}

/**
 * Divides a value into cookies, of which the first says how many they are.
 * @throws RosterAccessError if browsers and servers would not take them
 */
export function writeParts(name: string, value: string, write: (name: string, value: string) => string): string[] {
  const parts = value.match(new RegExp(`.{1,${PART_LENGTH}}`, 'g')) ?? [''];
  if (parts.length > PARTS_MAX)
    throw new RosterAccessError(
      500,
      'session_too_large',
      `The session takes ${value.length} characters, more than browsers and servers accept: the role has too many permissions.`,
    );
  return parts.map((part, i) => (i === 0 ? write(name, `${parts.length}.${part}`) : write(`${name}.${i}`, part)));
}

/** Returns how cookies of an application are named and set. Over http, on this machine, browsers accept no `Secure`. */
export function createCookieWriter(appUrl: URL) {
  const isSecure = appUrl.protocol === 'https:';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    nameOf: (name: string): string => (isSecure ? `__Host-${name}` : name),
    write: (name: string, value: string, seconds: number): string =>
      `${name}=${value}; ${attributes}; Max-Age=${seconds}`,
    remove: (name: string): string => `${name}=; ${attributes}; Max-Age=0`,
  };
}
