import pg from 'pg';
import {
  isRequired,
  parseDatabaseUrl,
  type DatabaseHost,
  type DatabaseTls,
  type DatabaseUrl,
  type Pooler,
} from '../../config/database-url.ts';
import { OptionalTlsClient } from './optional-tls.ts';
import { keepOnlyIdle } from './idle-releases.ts';
import { createPrimaryClient } from '../failover/primary-client.ts';
import { withSessionPooling } from '../pooler/session.ts';
import { withTransactionPooling, type SessionSettings } from '../pooler/transaction.ts';

/** The settings of one connection that its purpose decides. The URL decides all others. */
export type ConnectionOptions = {
  /** Appended to the name that PostgreSQL shows for the connection, such as `worker`. */
  readonly purpose?: string;
  readonly connectMs?: number;
  /** Maximum duration of a statement. Migrations and backups have none. */
  readonly statementMs?: number;
  /** Maximum time that a statement waits for a lock. */
  readonly lockMs?: number;
  /** Lets pipelined queries share a round trip (query.ts). */
  readonly pipeline?: boolean;
  /** Leaves all settings as the server has them. Only for the question what is between this process and PostgreSQL. */
  readonly isBare?: boolean;
};

type Settings = pg.ClientConfig & { readonly Client: typeof pg.Client };

/**
 * Returns the settings of every connection to a database: of requests, jobs, migrations, commands and backups. No
 * other code reads the URL, because pg and MikroORM each understand only a part of its parameters.
 */
export function connectionSettings(databaseUrl: string, options: ConnectionOptions = {}): Settings {
  const url = parseDatabaseUrl(databaseUrl);
  const PrimaryClient = primaryClientOf(url);
  return {
    ...settingsForHost(url, url.hosts[0], options),
    Client: url.pooler === 'none' ? PrimaryClient : withPooling(PrimaryClient, url.pooler, toSettings(url, options)),
  };
}

const primaryClients = new Map<string, typeof pg.Client>();

/** Returns the same class for all connections to a database, because they have to leave a former primary together. */
function primaryClientOf(url: DatabaseUrl): typeof pg.Client {
  const key = JSON.stringify(url);
  const known = primaryClients.get(key);
  if (known !== undefined) return known;
  const Client = createPrimaryClient({
    servers: url.hosts,
    settingsFor: (server) => settingsForHost(url, server, { purpose: 'failover' }),
    Client: url.tls.mode === 'disable' || isRequired(url.tls.mode) ? pg.Client : OptionalTlsClient,
  });
  primaryClients.set(key, Client);
  return Client;
}

/** Opens no connection yet. The caller connects and ends the client. */
export function createClient(databaseUrl: string, options: ConnectionOptions = {}): pg.Client {
  const { Client, ...settings } = connectionSettings(databaseUrl, options);
  const client = new Client(settings);
  client.on('error', () => undefined); // The pending or the next query fails with the same error.
  return client;
}

/** Opens connections when they are needed. The caller reports the errors of idle ones, and ends the pool. */
export function createPool(databaseUrl: string, options: ConnectionOptions & { readonly max: number }): pg.Pool {
  const settings = connectionSettings(databaseUrl, options);
  const pool = keepOnlyIdle(
    new pg.Pool({ ...settings, max: options.max } as pg.PoolConfig),
    options.purpose ?? 'other',
  );
  // The errors of connections in use also reject their query, where they are handled.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

const QUERY_GRACE_MS = 1000;

/**
 * Compiling a statement takes PostgreSQL seconds, and saves something only if it reads millions of rows. The server
 * decides by estimated costs, which are wrong for tables that have grown since they were analyzed.
 */
const JIT_OFF = '-c jit=off';
const SETS_JIT = /(?:^|\s)(?:-c\s*|--)jit\s*=/;

/** PostgreSQL takes the last value of a setting, so that of the operator wins. */
const withoutJit = (options: string | undefined): string => [JIT_OFF, options].filter(Boolean).join(' ');

/** How long a connection is silent before TCP asks whether its peer is still there; the default is two hours. */
const KEEP_ALIVE_MS = 10_000;

/**
 * How long PostgreSQL waits for the next statement of a transaction. The locks of a process that froze, or whose host
 * or network failed, end then, and not with the TCP connection, which PostgreSQL gives up after two hours.
 */
const IDLE_IN_TRANSACTION_MS = 10_000;

function settingsForHost(
  { user, password, database, tls, applicationName = 'roster', options: serverOptions, pooler }: DatabaseUrl,
  { host, port }: DatabaseHost,
  { purpose, connectMs, statementMs, lockMs, pipeline = false }: ConnectionOptions,
): pg.ClientConfig {
  const isSocket = host.startsWith('/');
  const isDirect = pooler === 'none';
  return {
    host,
    port,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ssl: isSocket ? false : toTlsOptions(tls, host),
    ...(tls.isDirect && { sslnegotiation: 'direct' as const }),
    enableChannelBinding: tls.bindsChannel,
    application_name: purpose === undefined ? applicationName : `${applicationName} ${purpose}`,
    ...((isDirect || serverOptions !== undefined) && { options: isDirect ? withoutJit(serverOptions) : serverOptions }),
    ...(connectMs !== undefined && { connectionTimeoutMillis: connectMs }),
    ...(statementMs !== undefined && { query_timeout: statementMs + QUERY_GRACE_MS }),
    ...(isDirect && statementMs !== undefined && { statement_timeout: statementMs }),
    ...(isDirect && lockMs !== undefined && { lock_timeout: lockMs }),
    ...(isDirect && statementMs !== undefined && { idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS }),
    pipeline,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

const toSettings = (
  { options = '' }: DatabaseUrl,
  { statementMs, lockMs, isBare = false }: ConnectionOptions,
): SessionSettings => ({
  jit: isBare || SETS_JIT.test(options) ? undefined : 'off',
  statement_timeout: statementMs,
  lock_timeout: lockMs,
  idle_in_transaction_session_timeout: statementMs && IDLE_IN_TRANSACTION_MS,
});

/** A pooler refuses settings as startup parameters. */
const withPooling = (
  Base: typeof pg.Client,
  pooler: Exclude<Pooler, 'none'>,
  settings: SessionSettings,
): typeof pg.Client =>
  pooler === 'session'
    ? withSessionPooling(Base, settings)
    : withTransactionPooling(Base, settings, pooler === 'prepared');

function toTlsOptions(
  { mode, ca, cert, key, passphrase, minVersion }: DatabaseTls,
  host: string,
): pg.ClientConfig['ssl'] {
  if (mode === 'disable') return false;
  // A certificate authority that is given is used, also if the mode does not require it (libpq does the same).
  const isVerified = mode === 'verify-full' || mode === 'verify-ca' || (mode === 'require' && ca !== undefined);
  return {
    // pg does not pass on an IP address, and Node would compare the certificate with `localhost`.
    host,
    rejectUnauthorized: isVerified,
    ...(isVerified && mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert, key }),
    ...(passphrase !== undefined && { passphrase }),
    ...(minVersion !== undefined && { minVersion }),
  };
}
