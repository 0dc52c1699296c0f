import type pg from 'pg';
import type { QueryConfig } from 'pg';
import { PgQuery, toPgConnection, type PgConnection } from '../pipeline/pg-internals.ts';

/** Settings of a connection, timeouts in ms; undefined leaves the default of the server. */
export type SessionSettings = Readonly<
  Record<'statement_timeout' | 'lock_timeout' | 'idle_in_transaction_session_timeout', number | undefined> &
    Record<'jit', 'off' | undefined>
>;

type Setting = readonly [name: string, value: number | string];

export const isSet = (setting: readonly [name: string, value: number | string | undefined]): setting is Setting =>
  setting[1] !== undefined;

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

const BEGIN = /^\s*(?:begin|start transaction)\b[^;]*/i;
const END = /^\s*(commit|end|rollback)\b(?!\s+to\b)/i;

type Callback = (error: Error, result: pg.QueryResult) => void;

/**
 * Adds to a client what a pooler in transaction mode needs: no startup parameters beyond the login, settings for each
 * transaction instead of the session, and no statements that the server would have to keep.
 */
export function withTransactionPooling(Base: typeof pg.Client, values: SessionSettings, keepsStatements: boolean) {
  const given = Object.entries(values).filter(isSet);
  const calls = given.map(([name, value]) => `set_config('${name}', '${value}', true)`);
  // A condition, because the row of a select list would be taken for a row of the query after it.
  const settings = calls.length === 0 ? undefined : `select where ${calls.join(' || ')} is null`;
  const setLocal = given.map(([name, value]) => `; set local ${name} = ${value}`).join('');

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
          // Before what the text does next, which a server would plan with its own settings.
          text: begins ? text.replace(BEGIN, (begin) => `${begin}${setLocal}`) : text,
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

/** A query that sends the settings first if it is a transaction of its own. */
class PooledQuery extends PgQuery {
  readonly #isSingle: boolean;
  #skipsCompletion = false;

  constructor(config: QueryConfig, values: unknown, callback: unknown, isSingle: boolean) {
    super(config, values, callback);
    this.#isSingle = isSingle;
  }

  override submit(connection: pg.Connection): Error | null {
    const settings = poolings.get(connection)?.settings;
    if (this.#isSingle && settings !== undefined && !this.requiresPreparation()) {
      // Statements of one text are one transaction.
      this.text = `${settings}; ${this.text}`;
      this.#skipsCompletion = true;
    }
    return super.submit(connection);
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
