import type { RunInSpan } from '../telemetry/span.ts';
import type { ListQueue } from './lists.ts';
import { LongList, type Listed } from './long-list.ts';
import { mapInParts } from './parts.ts';
import { createPipeline } from './pipeline.ts';
import { openPipeline, pipelineTransaction } from './pipelined-transaction.ts';
import type { BoundQuery, Rows } from './prepared-statement.ts';
import type { Value } from './pg-internals.ts';
import type { Pools } from './pools.ts';
import { RowCounts } from './row-counts.ts';
import type { WriteQueue } from './write-queue.ts';

/** A constant SQL text with a name, which PostgreSQL prepares once per connection. */
type Statement<Row> = { readonly name: string; readonly text: string; readonly row?: Row };

/** A named statement that only reads. */
export type Query<Row> = Statement<Row> & { readonly kind: 'query'; readonly rows: 'few' | 'many' };

/** A named statement that writes or locks. */
export type Command<Row> = Statement<Row> & { readonly kind: 'command' };

/**
 * Declares a statement that only reads and takes no locks. `Row` describes each row, with `timestamptz` as text.
 * @param options `rows: 'few'`, the default, shares a connection and a round trip with other queries, so it must
 *   be quick. Use `'many'` if there can be thousands of rows or if it can be slow: it gets a separate connection, for
 *   which credentials take turns.
 */
export function query<Row>(name: string, text: string, { rows = 'few' }: Partial<Pick<Query<Row>, 'rows'>> = {}) {
  const declared: Query<Row> = { kind: 'query', name, text, rows };
  return register(declared);
}

/** Declares a statement that inserts, updates, deletes or locks. It runs in a separate transaction. */
export function command<Row>(name: string, text: string) {
  const declared: Command<Row> = { kind: 'command', name, text };
  return register(declared);
}

const declarations = new Map<string, Query<unknown> | Command<unknown>>();

function register<Declared extends Query<unknown> | Command<unknown>>(declared: Declared): Declared {
  declarations.set(declared.name, declared);
  return declared;
}

/** Returns every statement that the modules imported so far declare. */
export const declaredStatements = () => [...declarations.values()];

/** Runs queries, each in one round trip. */
export type QueryRunner = {
  query<Row>(query: Query<Row>, values: readonly unknown[]): Promise<Row[]>;
};

/** Runs queries, also those of lists that are short for nearly all callers and long for some. */
export type ListRunner = QueryRunner & {
  /**
   * Reads a list with a query of few rows. If its result was long the last time with its first parameter, it is a
   * `LongList`, which is read while it is worked on, and for which accounts take turns.
   */
  list<Row, Item>(query: Query<Row>, values: readonly unknown[], convert: (row: Row) => Item): Promise<Listed<Item>>;
};

/** Runs queries and commands, each in one round trip. */
export type CommandRunner = ListRunner & {
  run<Row>(command: Command<Row>, values: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs several statements in one transaction and one round trip. @returns the rows of each
   * @param teamId the team that they lock
   */
  runTogether(steps: readonly Step[], teamId?: string): Promise<Rows[]>;
  /**
   * Runs `work` in a transaction. BEGIN and COMMIT need no round trips of their own.
   * @param teamId the team that it locks
   */
  readonly runSteps: <Result>(work: (open: OpenSteps) => Promise<Result>, teamId?: string) => Promise<Result>;
};

/** A statement with its parameters: text, bytes, numbers and null. */
export type Step<Row = unknown> = readonly [statement: Query<Row> | Command<Row>, values: readonly unknown[]];

export type RowsOf<Steps extends readonly Step[]> = {
  [Index in keyof Steps]: Steps[Index] extends Step<infer Row> ? Row[] : never;
};

/** The statements of an open transaction. */
export type OpenSteps = {
  /** Runs statements in one round trip, after those of `later`. @returns the rows of each */
  readonly run: <const Steps extends readonly Step[]>(steps: Steps) => Promise<RowsOf<Steps>>;
  /** Runs a statement with the next ones, at the latest with the commit. */
  readonly later: (step: Step) => void;
};

type Connections = { readonly pools: Pools; readonly writeQueue: WriteQueue; readonly listQueue: ListQueue };

export function createQueryRunner(
  { pools, writeQueue, listQueue }: Connections,
  withSpan: RunInSpan | undefined,
): CommandRunner {
  const few = createPipeline(pools.reads);
  const runners = { few, many: (query: BoundQuery) => listQueue.run(query) };
  const counts = new RowCounts();
  const runCommand = async ({ name, text }: Command<unknown>, values: readonly unknown[]) =>
    (await pools.writes.query({ name, text, values: [...values] })).rows as object[];
  const bind = ([{ name, text }, values]: Step): BoundQuery => ({ name, text, values: values.map(toParameter) });
  const traced = async <Row>(name: string, run: () => Promise<Rows>): Promise<Row[]> =>
    (await (withSpan === undefined ? run() : withSpan('postgresql', name, run))) as Row[]; // as declared
  return {
    query: (query, values) => traced(query.name, () => runners[query.rows](bind([query, values]))),
    async list<Row, Item>(declared: Query<Row>, values: readonly unknown[], convert: (row: Row) => Item) {
      const query = bind([declared, values]);
      const key = `${query.name} ${String(query.values[0])}`;
      const firstCount = counts.firstCount(key);
      if (firstCount !== undefined) await firstCount;
      if (!counts.isLong(key))
        return mapInParts(await counts.count(key, () => traced<Row>(query.name, () => few(query))), convert);
      return new LongList<Item>(async (work) => {
        let length = 0;
        const read = () =>
          listQueue.read(query, (rows) => {
            length += rows.length;
            return work(rows.map((row) => convert(row as Row))); // as declared
          });
        await (withSpan === undefined ? read() : withSpan('postgresql', query.name, read));
        counts.remember(key, length);
      });
    },
    run: (command, values) => traced(command.name, () => writeQueue.run(() => runCommand(command, values))),
    runTogether: (steps, teamId) => {
      const bound = steps.map(bind);
      const send = () => writeQueue.run(() => pipelineTransaction(pools.writes, bound), teamId);
      return withSpan === undefined ? send() : withSpan('postgresql', bound.at(-1)?.name ?? 'transaction', send);
    },
    runSteps(work, teamId) {
      const open = () =>
        openPipeline(pools.writes, ({ run, later }) =>
          work({
            run: async <Steps extends readonly Step[]>(steps: Steps) => (await run(steps.map(bind))) as RowsOf<Steps>, // as declared
            later: (step) => later(bind(step)),
          }),
        );
      const inTurn = () => writeQueue.run(open, teamId);
      return withSpan === undefined ? inTurn() : withSpan('postgresql', 'transaction', inTurn);
    },
  };
}

/** Converts a parameter to text or bytes. Queries accept text, bytes, numbers and null only. */
export function toParameter(value: unknown): Value {
  if (value === null || typeof value === 'string' || value instanceof Uint8Array) return value;
  if (typeof value === 'number') return String(value);
  throw new TypeError(`A parameter of a query cannot be of type ${typeof value}.`);
}

/** Converts a `timestamptz` from PostgreSQL’s text format in UTC to ISO 8601, to the millisecond. */
export const iso = (timestamp: string): string =>
  // By its parts, because `Date` took a tenth of the time of a long list. Other forms are years before 1 or after 9999.
  /^\d{4}-\d\d-\d\d .{8}(?:\.\d+)?\+00$/.test(timestamp)
    ? `${timestamp.slice(0, 10)}T${timestamp.slice(11, 19)}.${timestamp.slice(20, -3).slice(0, 3).padEnd(3, '0')}Z`
    : new Date(timestamp).toISOString();

/** Converts a nullable `timestamptz` to ISO 8601. */
export const isoOrNull = (timestamp: string | null): string | null => (timestamp === null ? null : iso(timestamp));
