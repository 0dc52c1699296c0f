import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import pg from 'pg';

type Kind = 'object' | 'function' | 'number';
type Members<Internals> = Record<keyof Internals, Kind>;

/**
 * All internals of pg that this service uses, by the object that has them. `test/db/pg-internals.test.ts` names each one
 * that a new version of pg no longer has.
 */
export const PG_INTERNALS = {
  connection: {
    parsedStatements: 'object',
    submittedNamedStatements: 'object',
    parse: 'function',
    bind: 'function',
    describe: 'function',
    execute: 'function',
    sync: 'function',
    connect: 'function',
    requestSsl: 'function',
    cancel: 'function',
    on: 'function',
    stream: 'object',
    attachListeners: 'function',
    ssl: 'object',
  } satisfies Members<PgConnection>,
  client: {
    processID: 'number',
    secretKey: 'number',
    _activeQuery: 'object',
    _sentQueryQueue: 'object',
    _queryQueue: 'object',
    getTransactionStatus: 'function',
  } satisfies Members<BackendKey & ClientInternals>,
  pool: { _release: 'function' } satisfies Members<PoolInternals>,
  query: {
    submit: 'function',
    requiresPreparation: 'function',
    prepare: 'function',
    handleCommandComplete: 'function',
  } satisfies Partial<Members<PgQuery>>,
} as const;

/** What a connection emits. `sslconnect` comes after `connect` if the connection uses TLS. */
type ConnectionEvents = {
  connect: [];
  sslconnect: [];
  error: [];
  end: [];
  /** A failed statement, with its SQLSTATE. */
  errorMessage: [{ readonly code?: string }];
  /** A parameter that PostgreSQL reports at login and whenever it changes. */
  parameterStatus: [{ readonly parameterName: string; readonly parameterValue: string }];
};

export const CONNECTION_EVENTS = [
  'connect',
  'sslconnect',
  'error',
  'end',
  'errorMessage',
  'parameterStatus',
] as const satisfies readonly (keyof ConnectionEvents)[];

/** The extended query protocol of a pg connection. */
export type PgConnection = {
  /** Texts of the prepared statements by name; `submittedNamedStatements` has those in progress. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: readonly Value[] }): void;
  describe(message: { type: 'P'; name: '' }): void;
  execute(message: { portal: '' }): void;
  sync(): void;
  /** Opens the connection. For a socket file, its path is the only argument. */
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  /** Sends a cancel request, as the first and only message of a connection. */
  cancel(processId: number, secretKey: number): void;
  on<Event extends (typeof CONNECTION_EVENTS)[number]>(
    event: Event,
    listener: (...values: ConnectionEvents[Event]) => void,
  ): void;
  /** The socket. Corked, so that several queries are sent in one write; paused, so that rows are read in parts. */
  readonly stream: Pick<Socket, 'cork' | 'uncork' | 'destroy' | 'pause' | 'resume'>;
  /** Begins to read messages. */
  attachListeners(stream: EventEmitter): void;
  /** TLS options, or false. */
  ssl: pg.ClientConfig['ssl'];
};

/** A pg connection before the login, which asks the server for TLS. The server answers with one byte. */
export const NegotiatingConnection = pg.Connection as unknown as new (config: pg.ClientConfig) => EventEmitter & {
  readonly stream: EventEmitter;
  readonly ssl: pg.ClientConfig['ssl'];
  connect(port: number | string, host?: string): void;
  attachListeners(stream: EventEmitter): void;
};

/** What identifies the server process of a client in a cancel request. */
export type BackendKey = { readonly processID: number; readonly secretKey: number };

/** A parameter as PostgreSQL parses it. */
export type Value = string | Uint8Array | null;

/** The messages that pg passes to `handleRowDescription` and `handleDataRow` of a query. */
export type RowDescription = { readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[] };
export type DataRow = { readonly fields: readonly (string | null)[] };

/** Casts the argument of `submit`, whose declared type lacks the methods that queries use. */
export const toPgConnection = (connection: unknown): PgConnection => connection as PgConnection;

/** Returns the connection of a client. */
export const getPgConnection = (client: pg.ClientBase): PgConnection =>
  (client as pg.ClientBase & { readonly connection: PgConnection }).connection;

/** Returns the version of TLS that a connected client uses. @returns null without TLS */
export function tlsVersion(client: pg.ClientBase): string | null {
  const { stream } = getPgConnection(client);
  return stream instanceof TLSSocket ? stream.getProtocol() : null;
}

/** Returns the key of a connected client’s server process. */
export const getBackendKey = (client: pg.ClientBase): BackendKey => client as pg.ClientBase & BackendKey;

/** Sets the TLS options of a client that has not connected yet. */
export const setTlsOptions = (client: pg.Client, ssl: pg.ClientConfig['ssl']): void => {
  (client.connection as pg.Connection & Pick<PgConnection, 'ssl'>).ssl = ssl;
};

/** The internals of pg-pool that this service uses. The error makes it close the connection. */
export type PoolInternals = {
  _release(client: pg.PoolClient, onIdleError: unknown, error: unknown): void;
};

export const poolInternals = (pool: pg.Pool): PoolInternals => pool as unknown as PoolInternals;

/** Lets a pool close a connection that is given back and that has a fault. */
export function checkReleases(pool: pg.Pool, findFault: (client: pg.PoolClient) => Error | undefined): void {
  const internals = poolInternals(pool);
  const release = internals._release.bind(pool);
  internals._release = (client, onIdleError, error) => release(client, onIdleError, error || findFault(client));
}

type Statement = string | { readonly name?: string; readonly text?: string } | undefined;

/**
 * Notes the last statement of each connection of a pool. @returns a function that names it: by its name, or by the first
 * word of its text, because the rest can contain values
 */
export function watchStatements(pool: pg.Pool): (client: pg.PoolClient) => string {
  const last = new WeakMap<pg.PoolClient, Statement>();
  // Not on `connect`: a library can have opened the first connection before.
  pool.on('acquire', (client) => {
    if (last.has(client)) return;
    last.set(client, undefined);
    const methods = Object.getPrototypeOf(client) as { query: (...given: readonly unknown[]) => unknown };
    const noting = (...given: readonly unknown[]) => {
      last.set(client, given[0] as Statement); // pg takes nothing else
      return methods.query.apply(client, [...given]);
    };
    Object.assign(client, { query: noting });
  });
  return (client) => {
    const statement = last.get(client);
    const { name = '', text = '' } = typeof statement === 'object' ? statement : { text: statement };
    return name || (/^\W*(\w+)/.exec(text)?.[1] ?? '');
  };
}

/** The state of a client: the statements that are not answered, and `I` outside of transactions. */
type ClientInternals = {
  readonly _activeQuery: unknown;
  readonly _sentQueryQueue: readonly unknown[];
  readonly _queryQueue: readonly unknown[];
  getTransactionStatus(): string | null;
};

/** Returns whether a connected client is outside of transactions, and all its statements were answered. */
export function isIdle(client: pg.ClientBase): boolean {
  const state = client as unknown as ClientInternals;
  const isAnswered = !state._activeQuery && state._sentQueryQueue.length === 0 && state._queryQueue.length === 0;
  return isAnswered && state.getTransactionStatus() === 'I';
}

/** The query class of pg, of which the declared types know nothing. */
export type PgQuery = Omit<pg.Submittable, 'submit'> & {
  submit(connection: pg.Connection): Error | null;
  text: string;
  requiresPreparation(): boolean;
  callback?: (error: Error | null, result: pg.QueryResult) => void;
  prepare(connection: unknown): void;
  handleCommandComplete(message: unknown, connection: unknown): void;
};
export const PgQuery = (pg as unknown as Record<'Query', new (...args: unknown[]) => PgQuery>).Query;
