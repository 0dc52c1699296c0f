import { AsyncResource } from 'node:async_hooks';
import { callbackify } from 'node:util';
import type pg from 'pg';
import type { DatabaseHost as Server } from '../../config/database-url.ts';
import { getPgConnection, setTlsOptions } from '../pipeline/pg-internals.ts';
import { createPrimaryLocator, ReadOnlyServerError } from './primary.ts';

type Options = {
  readonly servers: readonly [Server, ...Server[]];
  /** Returns the settings of a connection to one server. */
  readonly settingsFor: (server: Server) => pg.ClientConfig;
  /** The class to extend. */
  readonly Client: typeof pg.Client;
};

const PROBE_MS = 2000;

/** The SQLSTATE of a write to a server that is read-only. */
const READ_ONLY_STATE = '25006';

/** The parameters by which PostgreSQL 14 and later report, at login and on each change, that they accept no writes. */
const READ_ONLY_PARAMETERS = ['in_hot_standby', 'default_transaction_read_only'] as const;

type Connection = { readonly server: Server; readonly destroy: (error: Error) => void };

/**
 * Creates a class of clients that connect only to the server that accepts writes. If it becomes read-only, or if
 * another one is promoted, all clients of the class lose their connections, so that their pools open new ones.
 * Reads need it as well, because a former primary returns data from before a revocation.
 */
export function createPrimaryClient({ servers, settingsFor, Client }: Options): typeof pg.Client {
  const connections = new Map<pg.Client, Connection>();
  /** Whether a write failed since the parameters at login were last confirmed. A pooler can report outdated ones. */
  let isReadOnlySeen = false;

  /** Breaks connections as the loss of a server does: their queries fail, and their pools discard them. */
  function disconnect(isLeft: (server: Server) => boolean): void {
    for (const { server, destroy } of connections.values())
      if (isLeft(server)) destroy(new ReadOnlyServerError(server));
  }

  const locator = createPrimaryLocator(servers, {
    probe: (server) => probe(new Client({ ...settingsFor(server), connectionTimeoutMillis: PROBE_MS }), server),
    onMove: (primary) => disconnect((server) => server !== primary),
  });

  return class PrimaryClient extends Client {
    readonly #parameters = new Map<string, string>();
    #server: Server | undefined;

    constructor(config: pg.ClientConfig) {
      super(config);
      // The query in progress fails with the same error. Without a listener, that of an idle client ends the process.
      this.on('error', () => locator.doubt());
      const connection = getPgConnection(this);
      connection.on('errorMessage', ({ code }) => code === READ_ONLY_STATE && this.#leave());
      connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
        this.#parameters.set(parameterName, parameterValue);
        if (this.#server !== undefined && this.#isReportedReadOnly()) this.#leave();
      });
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void;
    override connect(callback?: (error: never, client: never) => void): Promise<pg.Client> | void {
      if (callback === undefined) return this.#connect();
      callbackify(() => this.#connect())(callback as (error: Error | null, client?: pg.Client) => void);
    }

    async #connect(): Promise<pg.Client> {
      const server = await locator.locate();
      // The pool has given up waiting, which it says by closing the socket.
      if (this.connection.stream.destroyed) throw new Error('Connection terminated: no primary was found in time');
      this.host = server.host;
      this.port = server.port;
      setTlsOptions(this, settingsFor(server).ssl);
      try {
        await super.connect();
        if (await this.#isReadOnly()) {
          void this.end();
          throw new ReadOnlyServerError(server);
        }
      } catch (error) {
        locator.doubt();
        throw error;
      }
      this.#server = server;
      // In the async context of this connection: a job worker that connects again must not work for the request that
      // noticed the loss.
      const destroy = AsyncResource.bind((error: Error) => void this.connection.stream.destroy(error));
      connections.set(this, { server, destroy });
      this.once('end', () => {
        connections.delete(this);
        // Without a connection nothing says that the server is still the primary.
        if (connections.size === 0) locator.doubt();
      });
      return this;
    }

    #isReportedReadOnly(): boolean {
      return READ_ONLY_PARAMETERS.some((name) => this.#parameters.get(name) === 'on');
    }

    async #isReadOnly(): Promise<boolean> {
      const isReported = READ_ONLY_PARAMETERS.every((name) => this.#parameters.has(name));
      if (isReported && !this.#isReportedReadOnly() && !isReadOnlySeen) return false;
      isReadOnlySeen = await isReadOnly(this);
      return isReadOnlySeen;
    }

    /** Leaves the server of this client, with all other clients. */
    #leave(): void {
      isReadOnlySeen = true;
      locator.doubt();
      disconnect((server) => server === this.#server);
    }
  };
}

/** A standby reports each transaction as read-only as well. */
async function isReadOnly(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  return rows[0]?.transaction_read_only !== 'off';
}

/** The first digits of the name of the current write-ahead log file. A service of a provider may not have the function. */
const TIMELINE = `select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int as timeline`;

async function probe(client: pg.Client, server: Server): Promise<number> {
  client.on('error', () => undefined); // The pending query fails with the same error.
  const timer = setTimeout(() => client.connection.stream.destroy(), PROBE_MS);
  try {
    await client.connect();
    if (await isReadOnly(client)) throw new ReadOnlyServerError(server);
    const { rows } = await client.query<{ timeline: number }>(TIMELINE).catch(() => ({ rows: [] }));
    return rows[0]?.timeline ?? 0;
  } finally {
    clearTimeout(timer);
    client.connection.stream.destroy();
  }
}
