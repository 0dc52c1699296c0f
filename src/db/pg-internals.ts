import type { PoolClient } from 'pg';

/**
 * Everything that this service uses of pg beyond its public interface. `test/db/pg-internals.test.ts` fails with
 * the name of each part that a new version of pg no longer has.
 */
export const PG_INTERNALS = {
  parsedStatements: 'object',
  submittedNamedStatements: 'object',
  parse: 'function',
  bind: 'function',
  describe: 'function',
  execute: 'function',
  sync: 'function',
  stream: 'object',
} as const satisfies Record<keyof PgConnection, 'object' | 'function'>;

/** The extended query protocol of a pg connection. */
export type PgConnection = {
  /** The texts of the statements that have been prepared, and of those that are being prepared, by name. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: readonly Value[] }): void;
  describe(message: { type: 'P'; name: '' }): void;
  execute(message: { portal: '' }): void;
  sync(): void;
  /** Where pg writes to. Corked, so that several queries are one write. */
  readonly stream: { cork(): void; uncork(): void };
};

/** A parameter as PostgreSQL parses it. */
export type Value = string | Uint8Array | null;

/** What pg passes to `handleRowDescription` and `handleDataRow` of a query. */
export type RowDescription = { readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[] };
export type DataRow = { readonly fields: readonly (string | null)[] };

/** Converts what pg passes to `submit`, whose declared type has none of what pg’s own queries use. */
export const toPgConnection = (connection: unknown): PgConnection => connection as PgConnection;

/** Returns the connection of a client. */
export const getPgConnection = (client: PoolClient): PgConnection =>
  (client as PoolClient & { readonly connection: PgConnection }).connection;
