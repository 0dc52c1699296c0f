/** A Redis, several nodes of one Redis Cluster, or the Sentinels that know the current primary. */
export type RedisUrl = Login & {
  readonly kind: 'single' | 'cluster' | 'sentinel';
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly isTls: boolean;
  readonly database: number;
  /** The name of the primary that the Sentinels monitor. */
  readonly primary: string;
  /** The login at the Sentinels. `username` and `password` are for Redis. */
  readonly sentinel: Login;
};

type Login = { readonly username: string | undefined; readonly password: string | undefined };

const FORMAT =
  'must be comma-separated redis:// or rediss:// URLs, or redis+sentinel://[user:password@]host:26379,host2/name[/database]';

/**
 * Parses REDIS_URL. Several URLs, separated by commas, are the nodes of one Redis Cluster.
 * @throws Error with a message that follows the name of the variable
 */
export function parseRedisUrl(text: string): RedisUrl {
  return /^rediss?\+sentinel:/.test(text) ? parseSentinel(text) : parseNodes(text);
}

function parseNodes(text: string): RedisUrl {
  const parts = text.split(',').map((part) => part.trim());
  if (!parts.every((part) => /^rediss?:\/\//.test(part) && URL.canParse(part))) throw new Error(FORMAT);
  const urls = parts.map((part) => new URL(part));
  const [first] = urls;
  if (urls.some(({ protocol }) => protocol !== first?.protocol))
    throw new Error('must use redis:// or rediss:// for all nodes');
  const path = first?.pathname.slice(1) ?? '';
  return {
    kind: urls.length > 1 ? 'cluster' : 'single',
    hosts: urls.map(({ hostname, port }) => ({
      host: withoutBrackets(hostname) || 'localhost',
      port: Number(port || 6379),
    })),
    isTls: first?.protocol === 'rediss:',
    username: decode(first?.username),
    password: decode(first?.password),
    database: readDatabase(path),
    primary: '',
    sentinel: { username: undefined, password: undefined },
  };
}

function parseSentinel(text: string): RedisUrl {
  const [, tls, login, authority = '', primary = '', database = '', search = ''] =
    /^redis(s)?\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]+)(?:\/([^/?#]*))?(?:\?([^#]*))?$/.exec(text) ?? [];
  const hosts = authority.split(',').map((part) => /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(part.trim()));
  const [, username, password] = /^([^:]*)(?::(.*))?$/.exec(login ?? '') ?? [];
  const parameters = new URLSearchParams(search);
  return {
    kind: 'sentinel',
    hosts: hosts.map((match) => {
      if (match === null) throw new Error(FORMAT);
      return { host: withoutBrackets(match[1] ?? ''), port: Number(match[2] ?? 26_379) };
    }),
    isTls: tls !== undefined,
    username: decode(username),
    password: decode(password),
    database: readDatabase(database),
    primary: decode(primary) ?? '',
    sentinel: {
      username: parameters.get('sentinel_username') ?? undefined,
      password: parameters.get('sentinel_password') ?? undefined,
    },
  };
}

const withoutBrackets = (host: string): string => host.replaceAll(/^\[|\]$/g, '');

function readDatabase(path: string): number {
  if (!/^\d{0,4}$/.test(path)) throw new Error(`${path} is not the number of a database`);
  return Number(path);
}

function decode(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('contains an invalid percent-encoding');
  }
}

/** Returns what is wrong with REDIS_CA, REDIS_CERT and REDIS_KEY. Without TLS they would silently have no effect. */
export function redisTlsFaults(set: Readonly<Record<string, string | undefined>>): string[] {
  const isTls = /^\s*rediss/.test(set['REDIS_URL'] ?? '');
  const files = ['REDIS_CA', 'REDIS_CERT', 'REDIS_KEY'].filter((name) => set[name] !== undefined);
  const isHalf = (set['REDIS_CERT'] === undefined) !== (set['REDIS_KEY'] === undefined);
  return [
    ...(isHalf ? ['REDIS_KEY: must be set together with REDIS_CERT'] : []),
    ...(isTls ? [] : files.map((name) => `${name}: requires a REDIS_URL with TLS: use rediss://, or unset ${name}`)),
  ];
}

/** Where requests are counted. */
export type RedisServer = {
  /** Several URLs, separated by commas, are the nodes of one Redis Cluster. */
  readonly url: string;
  readonly tls?: RedisTls;
  /** How long a request waits for a count, or for the first connection. */
  readonly answerMs: number;
};

/** The certificate authority and the client certificate in PEM, for `rediss://`. */
export type RedisTls = {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
};

/** @returns undefined if requests are counted in memory */
export const redisServer = (url: string | undefined, tls: RedisTls = {}, answerMs = 100): RedisServer | undefined =>
  url === undefined ? undefined : { url, tls, answerMs };
