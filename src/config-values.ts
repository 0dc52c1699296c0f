import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { getContrast, parseColor } from './color.ts';
import { parseDatabaseUrl } from './database-url.ts';
import { parseRedisUrl } from './redis-url.ts';

// Types of environment variables. An error message follows the name of its variable in the same line.

export const flag = z.enum(['true', 'false', '1', '0', 'on', 'off']).transform((value) => /^(true|1|on)$/.test(value));

// Every number has an upper bound, because a larger one would overflow a date, a timer or a column at run time.
export const REQUESTS_MAX = 1_000_000_000;
const COUNT_MAX = 1_000_000;
const DAYS_MAX = 3650;
export const SECONDS_MAX = 86_400;

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .refine((value) => value >= min && value <= max, error);
}

/** A number of processes; `auto` is one for each core that this process can use. */
export const processes = () =>
  z.union([z.literal('auto').transform(() => availableParallelism()), wholeNumber(1, 256)], {
    error: 'must be `auto` or a whole number from 1 to 256',
  });

export const count = (fallback: number, max = COUNT_MAX) => wholeNumber(1, max).default(fallback);
export const days = (fallback: number) => count(fallback, DAYS_MAX);
export const port = () => wholeNumber(1, 65_535);
export const url = (...protocols: readonly string[]) =>
  z.url({
    protocol: new RegExp(`^(${protocols.join('|')})$`),
    error: `must be a URL that starts with ${protocols.map((name) => `${name}://`).join(' or ')}`,
  });

/** Creates a schema that converts a variable with `read`, which throws if the text is invalid. */
const readBy = <Value>(read: (text: string) => Value) =>
  z.string().transform((text, context) => {
    try {
      return read(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });

/** A connection URL, whose files can be read. */
export const databaseUrl = () =>
  readBy((text) => {
    parseDatabaseUrl(text);
    return text;
  });

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

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
      throw new Error('must be https unless it names this machine (localhost, 127.0.0.1, [::1])');
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

/** A name of this instance on one line. */
export const brandName = () =>
  readBy((text) => {
    const name = text.trim().normalize('NFC');
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,40}$/u.test(name) || /[<>{}]/.test(name))
      throw new Error('must be 1 to 40 letters, digits, spaces and marks, except < > { }');
    return name;
  });

const CONTRAST_MIN = 4.5; // of text (WCAG 2.2, AA)
/** A color that can be read on white, and white on it. */
export const brandColor = () =>
  readBy((text) => {
    const color = parseColor(text);
    if (color === undefined) throw new Error('must be a color as #rrggbb');
    const contrast = getContrast(color, '#ffffff');
    if (contrast < CONTRAST_MIN)
      throw new Error(
        `must have a contrast of at least ${CONTRAST_MIN}:1 with white; that of ${color} is ${contrast.toFixed(2)}:1, so choose a darker color`,
      );
    return color;
  });

/** The bytes and media type of a picture, at most 100 KB. */
export const brandLogo = () =>
  readBy((path) => {
    const type = /\.svg$/i.test(path) ? 'image/svg+xml' : /\.png$/i.test(path) ? 'image/png' : undefined;
    const body = readFileSync(path);
    if (type === undefined || body.length > 100_000) throw new Error('must be an SVG or PNG of at most 100 KB');
    return { type, body };
  });

export const redisUrls = () =>
  readBy((text) => {
    parseRedisUrl(text);
    return text;
  });

/** A file in PEM format. @returns its content */
export const pemFile = () =>
  readBy((path) => {
    const pem = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    if (pem === undefined) throw new Error(`${path} does not exist`);
    if (!pem.includes('-----BEGIN ')) throw new Error(`${path} is not in PEM format`);
    return pem;
  });

const publicKeys = z.object({
  public_keys: z.array(z.object({ key_identifier: z.string().min(1), key: z.string() })).min(1),
});

/** Public keys by their identifier, read from a JSON file in the format of GitHub's API. */
export const githubKeys = () =>
  readBy((file): ReadonlyMap<string, KeyObject> => {
    if (!existsSync(file)) throw new Error(`${file} does not exist`);
    try {
      const { public_keys: keys } = publicKeys.parse(JSON.parse(readFileSync(file, 'utf8')));
      return new Map(keys.map(({ key_identifier: id, key }) => [id, readEcdsaKey(key)]));
    } catch {
      throw new Error(`${file} is not the answer of https://api.github.com/meta/public_keys/secret_scanning`);
    }
  });

function readEcdsaKey(pem: string): KeyObject {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('not an ECDSA key of P-256');
  return key;
}

/** Parses `SECRET_KEYS`. The first key signs and encrypts; all keys verify and decrypt. */
export function readSecretKeys(text: string): readonly string[] {
  const keys = text.split(',').map((key) => key.trim());
  if (keys.some((key) => !/^[\x21-\x7e]{32,}$/.test(key)))
    throw new Error('each key needs at least 32 ASCII characters without spaces');
  return keys;
}

export const secretKeys = () => readBy(readSecretKeys);

/** Trusted proxies in the format of Express: a number of hops, `true` for one, or IP addresses and networks. */
export const trustedProxies = () =>
  readBy((text): boolean | number | string => {
    if (text === 'false' || text === 'off') return false;
    if (text === 'true') return true;
    if (/^\d{1,2}$/.test(text)) return Number(text);
    const invalid = splitList(text).find((part) => !isNetwork(part));
    if (invalid !== undefined || splitList(text).length === 0)
      throw new Error(
        `must be a number of hops, true, or IP addresses and networks, not ${JSON.stringify(invalid ?? text)}`,
      );
    return text;
  });

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** IP addresses and networks in CIDR notation. */
export const networks = () =>
  readBy((text): readonly string[] => {
    const list = splitList(text);
    const invalid = list.find((part) => !isNetwork(part) || isIP(part.split('/')[0] ?? '') === 0);
    if (invalid !== undefined) throw new Error(`must be IP addresses and networks, not ${JSON.stringify(invalid)}`);
    return list;
  });

const plan = z.object({ id: z.string().min(1), name: z.string().min(1), seats: z.int().min(1).max(COUNT_MAX) });

/** The limits of a team. `seats` counts active members and pending invitations together. */
export type Plan = z.infer<typeof plan>;

export const BUILT_IN_PLANS: ReadonlyMap<string, Plan> = new Map([
  ['free', { id: 'free', name: 'Free', seats: 5 }],
  ['pro', { id: 'pro', name: 'Pro', seats: 50 }],
]);

/** Plans, read from a JSON file. */
export const plans = () =>
  readBy((file): ReadonlyMap<string, Plan> => {
    if (!existsSync(file)) throw new Error(`${file} does not exist`);
    try {
      const list = z.array(plan).parse(JSON.parse(readFileSync(file, 'utf8')));
      if (!list.some(({ id }) => id === 'free'))
        throw new Error('the plan "free" is missing, which is the default of new teams');
      return new Map(list.map((entry) => [entry.id, entry]));
    } catch (error) {
      const [reason] =
        error instanceof z.ZodError
          ? [describe(error)]
          : String(error instanceof Error ? error.message : error).split('\n');
      throw new Error(`${file} is not a list of { id, name, seats }: ${reason}`);
    }
  });

const describe = ({ issues: [issue] }: z.ZodError): string => `${issue?.path.join('.')} ${issue?.message}`;

/** Returns whether a host name, in the form of `URL.hostname`, always resolves to this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
