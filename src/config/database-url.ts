import { createSecureContext, type SecureVersion } from 'node:tls';
import { readTextFile } from './text-file.ts';

/** One server of a connection URL. A host that starts with `/` is the directory of a Unix socket. */
export type DatabaseHost = { readonly host: string; readonly port: number };

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];

/** TLS as libpq defines it. https://www.postgresql.org/docs/current/libpq-ssl.html */
export type DatabaseTls = {
  readonly mode: SslMode;
  /** The certificate authority in PEM; undefined for the public ones. */
  readonly ca: string | undefined;
  /** The client certificate and its key in PEM. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly passphrase: string | undefined;
  readonly minVersion: SecureVersion | undefined;
  /** Starts TLS without asking the server first (PostgreSQL 17). */
  readonly isDirect: boolean;
  /** Binds the login to the TLS connection (SCRAM-SHA-256-PLUS) if the server offers it. */
  readonly bindsChannel: boolean;
};

/** A parsed DATABASE_URL. */
export type DatabaseUrl = {
  /** The service uses the one that accepts writes. */
  readonly hosts: readonly [DatabaseHost, ...DatabaseHost[]];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly tls: DatabaseTls;
  readonly applicationName: string | undefined;
  /** Server settings, such as `-c search_path=roster`. */
  readonly options: string | undefined;
  readonly targetSessionAttrs: string | undefined;
  readonly pooler: Pooler;
};

/**
 * What is between this service and PostgreSQL. `prepared` is a pooler in transaction mode that keeps prepared
 * statements, such as PgBouncer 1.21 with `max_prepared_statements`.
 */
export type Pooler = (typeof POOLERS)[number];
const POOLERS = ['none', 'session', 'transaction', 'prepared'] as const;

/** Adds the mode of the connection pooler to a URL, as a parameter that `parseDatabaseUrl` reads. */
export const withPooler = (url: string, pooler: Pooler): string =>
  `${url}${url.includes('?') ? '&' : '?'}pooler=${pooler}`;

const DEFAULT_PORT = 5432;

/** Parameters that change what this service does. */
const USED = new Set(
  `host port user password dbname sslmode sslrootcert sslcert sslkey sslpassword sslnegotiation
   ssl_min_protocol_version channel_binding application_name options target_session_attrs ssl pooler`.split(/\s+/),
);

/** Parameters of libpq and of pg that change nothing here: timeouts are fixed, and there is one encoding. */
const IGNORED = new Set(
  `connect_timeout client_encoding fallback_application_name gssencmode keepalives keepalives_idle keepalives_interval
   keepalives_count tcp_user_timeout sslcompression sslsni uselibpqcompat`.split(/\s+/),
);

/** Variables of libpq for parameters that the URL omits. pg reads those of the login itself. */
const ENVIRONMENT = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  options: 'PGOPTIONS',
} as const;

/** Variables of libpq that count where DATABASE_URL says nothing else. pg reads those of the login. */
export const READ_VARIABLES: readonly string[] = [
  ...Object.values(ENVIRONMENT),
  'PGUSER',
  'PGPASSWORD',
  'PGDATABASE',
  'PGPASSFILE',
];

const TARGETS = ['any', 'read-write', 'primary'];

/**
 * Parses a connection URL as libpq does, with several hosts and all parameters, and reads the files that it names.
 * @throws Error with a message that follows the name of the variable
 */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const parts = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text);
  if (parts === null) throw new Error('must be a URL that starts with postgres:// or postgresql://');
  const [, login = '', authority = '', path = '', search = ''] = parts;
  const parameters = readParameters(search);
  const [, user = '', password = ''] = /^([^:]*)(?::(.*))?$/s.exec(login) ?? [];
  const target = parameters.get('target_session_attrs');
  if (target !== undefined && !TARGETS.includes(target))
    throw new Error(`target_session_attrs must be one of ${TARGETS.join(', ')}`);
  return {
    hosts: readHosts(authority, parameters) as [DatabaseHost, ...DatabaseHost[]], // a split text has at least one part
    user: parameters.get('user') ?? (decode(user) || undefined),
    password: parameters.get('password') ?? (decode(password) || undefined),
    database: parameters.get('dbname') ?? (decode(path) || undefined),
    tls: readTls(parameters),
    applicationName: parameters.get('application_name'),
    options: parameters.get('options'),
    targetSessionAttrs: target,
    pooler: readPooler(parameters.get('pooler')),
  };
}

function readPooler(text = 'none'): Pooler {
  const pooler = POOLERS.find((name) => name === text);
  if (pooler === undefined) throw new Error(`pooler must be one of ${POOLERS.join(', ')}`);
  return pooler;
}

function readParameters(search: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of search.split('&').filter(Boolean)) {
    const [name = '', ...value] = pair.split('=');
    // Unlike in a form, a plus sign is no space.
    parameters.set(decode(name), decode(value.join('=')));
  }
  const unknown = [...parameters.keys()].find((name) => !USED.has(name) && !IGNORED.has(name));
  // A misspelled `sslmode` would connect without the protection that it names.
  if (unknown !== undefined) throw new Error(`the parameter ${unknown} is not supported: remove it`);
  if (parameters.get('gssencmode') === 'require') throw new Error('gssencmode=require is not supported');
  for (const [name, variable] of Object.entries(ENVIRONMENT)) {
    const value = process.env[variable];
    if (value !== undefined && !parameters.has(name)) parameters.set(name, value);
  }
  return parameters;
}

function readHosts(authority: string, parameters: ReadonlyMap<string, string>): DatabaseHost[] {
  const listed = authority.split(',').map((part): [string, string] => {
    const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(part) ?? [undefined, part, 'invalid'];
    return [decode(host.replaceAll(/^\[|\]$/g, '')), port];
  });
  const hosts = parameters.get('host')?.split(',') ?? listed.map(([host]) => host);
  const ports = parameters.get('port')?.split(',') ?? listed.map(([, port]) => port);
  return hosts.map((host, index) => {
    const text = (ports.length === 1 ? ports[0] : ports[index]) || String(DEFAULT_PORT);
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    if (port < 1 || port > 65_535) throw new Error(`the port of host ${host} must be a number from 1 to 65535`);
    return { host: host || 'localhost', port };
  });
}

function readTls(parameters: ReadonlyMap<string, string>): DatabaseTls {
  const root = parameters.get('sslrootcert') || undefined;
  const requested = parameters.get('sslmode') ?? readSslFlag(parameters.get('ssl')) ?? defaultMode(root);
  // The name that pg gives to `require` without a certificate authority.
  const mode = SSL_MODES.find((name) => name === (requested === 'no-verify' ? 'require' : requested));
  if (mode === undefined) throw new Error(`sslmode must be one of ${SSL_MODES.join(', ')}`);
  if (root === 'system' && mode !== 'verify-full') throw new Error('sslrootcert=system requires sslmode=verify-full');
  if (mode === 'verify-ca' && root === undefined) throw new Error('sslmode=verify-ca requires sslrootcert');
  const isDirect = parameters.get('sslnegotiation') === 'direct';
  if (isDirect && !isRequired(mode)) throw new Error('sslnegotiation=direct requires sslmode=require or stronger');
  const minVersion = parameters.get('ssl_min_protocol_version') || undefined;
  if (minVersion !== undefined && !/^TLSv1(\.[1-3])?$/.test(minVersion))
    throw new Error('ssl_min_protocol_version must be TLSv1, TLSv1.1, TLSv1.2 or TLSv1.3');
  const tls = {
    mode,
    ca: root === 'system' ? undefined : readFile('sslrootcert', root),
    cert: readFile('sslcert', parameters.get('sslcert') || undefined),
    key: readFile('sslkey', parameters.get('sslkey') || undefined),
    passphrase: parameters.get('sslpassword'),
    minVersion: minVersion as SecureVersion | undefined, // tested above
    isDirect,
    bindsChannel: /^(prefer|require)$/.test(parameters.get('channel_binding') ?? ''),
  };
  requireUsableFiles(tls);
  return tls;
}

/** `ssl=true` is an alias in libpq; pg also writes `ssl=1` and `ssl=no-verify`. */
function readSslFlag(flag: string | undefined): string | undefined {
  if (flag === 'true' || flag === '1') return 'require';
  return flag === 'false' || flag === '0' ? 'disable' : flag;
}

const defaultMode = (root: string | undefined): SslMode => (root === 'system' ? 'verify-full' : 'prefer');

/** Whether a connection without TLS is rejected. */
export const isRequired = (mode: SslMode): boolean => mode !== 'disable' && mode !== 'allow' && mode !== 'prefer';

function readFile(name: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readTextFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new Error(`${name}: ${path} cannot be read (${code})`);
  }
}

/** Rejects files that are not what their parameter names, before the first connection fails by them. */
function requireUsableFiles({ ca, cert, key, passphrase }: Pick<DatabaseTls, 'ca' | 'cert' | 'key' | 'passphrase'>) {
  if ((cert === undefined) !== (key === undefined)) throw new Error('sslcert and sslkey must be set together');
  const requireUsable = (name: string, options: Parameters<typeof createSecureContext>[0]) => {
    try {
      createSecureContext(options);
    } catch (error) {
      const [reason] = error instanceof Error ? error.message.split('\n') : [String(error)];
      throw new Error(`${name}: the file is not usable (${reason})`);
    }
  };
  if (ca !== undefined && !ca.includes('-----BEGIN ')) throw new Error('sslrootcert: the file has no PEM certificate');
  if (ca !== undefined) requireUsable('sslrootcert', { ca });
  if (cert !== undefined) requireUsable('sslcert and sslkey', { cert, key, passphrase });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('contains an invalid percent-encoding');
  }
}
