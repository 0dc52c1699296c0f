import type { MikroORM } from '@mikro-orm/postgresql';
import type { RunInSpan } from '../../telemetry/span.ts';
import { retryConflicts } from '../errors.ts';
import type { ListQueue } from '../long-lists/queue.ts';
import { LongList } from '../long-lists/long-list.ts';
import { openTransaction, SNAPSHOT, type OpenTransaction } from './open-transaction.ts';
import { mapInParts } from '../long-lists/parts.ts';
import { createPipeline } from './reads.ts';
import { pipelineTransaction } from './transaction.ts';
import type { Pools } from '../connection/pools.ts';
import { bind, type BoundQuery, type Rows } from './prepared-statement.ts';
import type { Command, ListRunner, Query, Step } from '../query.ts';
import { RowCounts } from '../long-lists/row-counts.ts';
import type { WriteQueue } from '../turns/write-queue.ts';

/** Runs queries and commands, each in one round trip. */
export type CommandRunner = ListRunner & {
  run<Row>(command: Command<Row>, values: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs several statements in one transaction and one round trip, again after a conflict. @returns the rows of each
   * @param teamId the team that they lock
   */
  runTogether(steps: readonly Step[], teamId?: string): Promise<Rows[]>;
  /**
   * Runs `work` in a transaction. BEGIN and COMMIT need no round trips of their own. It runs again, up to three times,
   * if PostgreSQL aborts it because of a conflict, and after a lock was not free in time. So `work` must not change
   * anything outside of its transaction.
   * @param teamId the team that it locks
   */
  readonly transact: <Result>(work: (open: OpenTransaction) => Promise<Result>, teamId?: string) => Promise<Result>;
  /** Runs `work` in a transaction that only reads and sees the database as it is at its first statement. */
  readonly readSnapshot: <Result>(work: (open: OpenTransaction) => Promise<Result>) => Promise<Result>;
};

type Connections = {
  readonly pools: Pools;
  readonly writeQueue: WriteQueue;
  readonly listQueue: ListQueue;
  readonly orm: MikroORM;
};

export function createQueryRunner(
  { pools, writeQueue, listQueue, orm }: Connections,
  withSpan: RunInSpan | undefined,
): CommandRunner {
  const few = createPipeline(pools.reads);
  const runners = { few, many: (query: BoundQuery) => listQueue.run(query) };
  const counts = new RowCounts();
  const runCommand = async ({ name, text }: Command<unknown>, values: readonly unknown[]) =>
    (await pools.writes.query({ name, text, values: [...values] })).rows as object[];
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
      const send = () => retryConflicts(() => writeQueue.run(() => pipelineTransaction(pools.writes, bound), teamId));
      return withSpan === undefined ? send() : withSpan('postgresql', bound.at(-1)?.name ?? 'transaction', send);
    },
    transact(work, teamId) {
      const inTurn = () => retryConflicts(() => writeQueue.run(() => openTransaction(pools.writes, orm, work), teamId));
      return withSpan === undefined ? inTurn() : withSpan('postgresql', 'transaction', inTurn);
    },
    readSnapshot(work) {
      const read = () => openTransaction(pools.writes, orm, work, SNAPSHOT);
      return withSpan === undefined ? read() : withSpan('postgresql', 'transaction', read);
    },
  };
}
