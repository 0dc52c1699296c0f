import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import pg from 'pg';

/**
 * All internals of pg that this service uses. `test/db/pg-internals.test.ts` names each one that a new version of pg
 * no longer has.
 */
export const PG_INTERNALS = {
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
} as const satisfies Record<keyof PgConnection, 'object' | 'function'>;

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
  /** `sslconnect` comes after `connect` if the connection uses TLS. */
  on(event: 'connect' | 'sslconnect' | 'error' | 'end', listener: () => void): void;
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
