import pg, { type QueryConfig } from 'pg';
import { toPgConnection, type PgConnection } from './pg-internals.ts';

/** Timeouts of a connection in ms, by the name of their setting; undefined leaves the default of the server. */
export type Timeouts = Readonly<
  Record<'statement_timeout' | 'lock_timeout' | 'idle_in_transaction_session_timeout', number | undefined>
>;

export const isSet = (timeout: [name: string, ms: number | undefined]): timeout is [string, number] =>
  timeout[1] !== undefined;

/** How statements are sent through a pooler that gives each transaction another connection to the server. */
type TransactionPooling = { readonly keepsStatements: boolean; readonly settings: string | undefined };

const poolings = new WeakMap<object, TransactionPooling>();

/** Returns the name under which the server keeps a statement: none if the next transaction runs on another server connection. */
export const statementName = (connection: PgConnection, name: string): string =>
  poolings.get(connection)?.keepsStatements === false ? '' : name;

/**
 * Sends the settings of a transaction as its first statement, without a sync message. It returns no row, so only its
 * completion must be skipped. @returns whether anything was sent
 */
export function sendSettings(connection: PgConnection): boolean {
  const settings = poolings.get(connection)?.settings;
  if (settings === undefined) return false;
  connection.parse({ name: '', text: settings });
  connection.bind({ statement: '', values: [] });
  connection.execute({ portal: '' });
  return true;
}

const BEGIN = /^\s*(begin|start transaction)\b/i;
const END = /^\s*(commit|end|rollback)\b(?!\s+to\b)/i;

type Callback = (error: Error, result: pg.QueryResult) => void;

/**
 * Adds to a client what a pooler in transaction mode needs: no startup parameters beyond the login, settings for each
 * transaction instead of the session, and no statements that the server would have to keep.
 */
export function withTransactionPooling(Base: typeof pg.Client, allTimeouts: Timeouts, keepsStatements: boolean) {
  const timeouts = Object.entries(allTimeouts).filter(isSet);
  const calls = timeouts.map(([name, ms]) => `set_config('${name}', '${ms}', true)`);
  // A condition, because the row of a select list would be taken for a row of the query after it.
  const settings = calls.length === 0 ? undefined : `select where ${calls.join(' || ')} is null`;
  const setLocal = timeouts.map(([name, ms]) => `; set local ${name} = ${ms}`).join('');

  return class extends Base {
    #isInTransaction = false;

    constructor(config?: pg.ClientConfig) {
      super(config);
      poolings.set(connectionOf(this), { keepsStatements, settings });
    }

    // @ts-expect-error -- one signature for the overloads of pg
    override query(config: string | QueryConfig | pg.Submittable, values?: unknown[] | Callback, callback?: Callback) {
      if (typeof config === 'object' && 'submit' in config) return super.query(config);
      const text = typeof config === 'string' ? config : config.text;
      const ends = END.test(text);
      const begins = BEGIN.test(text);
      const isSingle = !this.#isInTransaction && !begins && !ends;
      if (begins || ends) this.#isInTransaction = begins;
      const { name, ...rest } = typeof config === 'string' ? { name: undefined, text } : config;
      const query = new PooledQuery(
        {
          ...rest,
          text: begins ? `${text}${setLocal}` : text,
          ...(keepsStatements && name !== undefined && { name }),
        },
        values,
        callback,
        isSingle,
      );
      if (query.callback !== undefined) {
        super.query(query);
        return undefined;
      }
      return new Promise((resolve, reject) => {
        query.callback = (error, result) => (error ? reject(error) : resolve(result));
        super.query(query);
      });
    }
  } as unknown as typeof pg.Client;
}

/** The query class of pg, of which the declared types know nothing. */
type PgQuery = pg.Submittable & {
  callback?: (error: Error | null, result: pg.QueryResult) => void;
  prepare(connection: unknown): void;
  handleCommandComplete(message: unknown, connection: unknown): void;
};
const PgQuery = (pg as unknown as Record<'Query', new (...args: unknown[]) => PgQuery>).Query;

/** A query with parameters that sends the settings first if it is a transaction of its own. */
class PooledQuery extends PgQuery {
  readonly #isSingle: boolean;
  #skipsCompletion = false;

  constructor(config: QueryConfig, values: unknown, callback: unknown, isSingle: boolean) {
    super(config, values, callback);
    this.#isSingle = isSingle;
  }

  override prepare(connection: unknown): void {
    this.#skipsCompletion = this.#isSingle && sendSettings(toPgConnection(connection));
    super.prepare(connection);
  }

  override handleCommandComplete(message: unknown, connection: unknown): void {
    if (this.#skipsCompletion) this.#skipsCompletion = false;
    else super.handleCommandComplete(message, connection);
  }
}

const connectionOf = (client: unknown): object => (client as { readonly connection: object }).connection;
