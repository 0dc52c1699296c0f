import type { MikroORM } from '@mikro-orm/postgresql';
import type { RunInSpan } from '../../telemetry/span.ts';
import { retryConflicts } from '../errors.ts';
import { JsonList } from '../lists/json-list.ts';
import type { List, ListRunner } from '../lists/list.ts';
import type { ListQueue } from '../lists/queue.ts';
import { openTransaction, type OpenTransaction } from './open-transaction.ts';
import { createPipeline } from './reads.ts';
import { pipelineTransaction } from './transaction.ts';
import type { Pools } from '../connection/pools.ts';
import { bind, type BoundQuery, type Rows } from './prepared-statement.ts';
import type { Command, Query, Step } from '../query.ts';
import type { WriteQueue } from '../turns/write-queue.ts';

/** Runs queries and commands, each in one round trip. */
export type CommandRunner = ListRunner & {
  run<Row>(command: Command<Row>, values: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs several statements in one transaction and one round trip, again after a conflict. @returns the rows of each
   * @param turn what they lock first, such as a team
   */
  runTogether(steps: readonly Step[], turn?: string): Promise<Rows[]>;
  /**
   * Runs `work` in a transaction. BEGIN and COMMIT need no round trips of their own. It runs again, up to three times,
   * if PostgreSQL aborts it because of a conflict, and after a lock was not free in time. So `work` must not change
   * anything outside of its transaction.
   * @param turn what it locks first, such as a team
   */
  readonly transact: <Result>(work: (open: OpenTransaction) => Promise<Result>, turn?: string) => Promise<Result>;
  /** Calls `act` once what was run is committed, which each statement is by itself. */
  readonly onCommit: (act: () => void) => void;
};

export type Connections = {
  readonly pools: Pools;
  /** Where transactions wait before they get a connection. */
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
  const runCommand = async ({ name, text }: Command<unknown>, values: readonly unknown[]) =>
    (await pools.writes.query({ name, text, values: [...values] })).rows as object[];
  const traced = async <Row>(name: string, run: () => Promise<Rows>): Promise<Row[]> =>
    (await (withSpan === undefined ? run() : withSpan('postgresql', name, run))) as Row[]; // as declared
  const query = <Row>(declared: Query<Row>, values: readonly unknown[]) =>
    traced<Row>(declared.name, () => runners[declared.rows](bind([declared, values])));
  return {
    query,
    async list<Item>({ short, long }: List<Item>, values: readonly unknown[]) {
      const [row] = await query(short, values);
      if (typeof row?.items === 'string') return JsonList.ofShort<Item>(row.items);
      const read = () => listQueue.runLong(bind([long, values]));
      return JsonList.ofLong<Item>(await traced(long.name, read));
    },
    run: (command, values) => traced(command.name, () => writeQueue.run(() => runCommand(command, values))),
    runTogether: (steps, turn) => {
      const bound = steps.map(bind);
      const send = () => retryConflicts(() => writeQueue.run(() => pipelineTransaction(pools.writes, bound), turn));
      return withSpan === undefined ? send() : withSpan('postgresql', bound.at(-1)?.name ?? 'transaction', send);
    },
    transact(work, turn) {
      const inTurn = () => retryConflicts(() => writeQueue.run(() => openTransaction(pools.writes, orm, work), turn));
      return withSpan === undefined ? inTurn() : withSpan('postgresql', 'transaction', inTurn);
    },
    onCommit: (act) => act(),
  };
}
