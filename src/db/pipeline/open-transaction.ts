import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { openPipeline, type OpenPipeline } from './transaction.ts';
import { isRefusedBy, type CommitGuard } from './commit-guard.ts';
import { bind } from './prepared-statement.ts';
import type { RowsOf, Step } from '../query.ts';

/** The statements of an open transaction. */
export type OpenSteps = {
  /** Runs statements in one round trip, after the changes of entities and those of `later`. @returns the rows of each */
  readonly run: <const Steps extends readonly Step[]>(steps: Steps) => Promise<RowsOf<Steps>>;
  /** Runs a statement with the next ones, at the latest with the commit. */
  readonly later: (step: Step) => void;
};

/** An open transaction. */
export type OpenTransaction = OpenSteps & {
  /** Changes entities by statements of the same transaction. It is flushed before named statements and the commit. */
  readonly em: EntityManager;
  readonly orm: MikroORM;
  /** Writes the changes of `em`. */
  readonly flush: () => Promise<void>;
  /** Requires something at the commit, once, without a round trip of its own. */
  readonly requireAtCommit: (guard: CommitGuard) => void;
  /** Calls `act` after the commit, and never if the transaction is rolled back. */
  readonly onCommit: (act: () => void) => void;
  /** Ends the transaction with an error, also if `work` catches it. */
  readonly fail: (error: unknown) => void;
};

/** Runs `work` in a transaction, flushes its entity manager, commits, and calls what was to happen afterwards. */
export async function openTransaction<Result>(
  pool: Pool,
  orm: MikroORM,
  work: (open: OpenTransaction) => Promise<Result>,
): Promise<Result> {
  const afterwards: (() => void)[] = [];
  const guards = new Map<string, CommitGuard>();
  const result = await openPipeline(pool, async (pipeline) => {
    let em: EntityManager | undefined;
    const flush = async () => em?.flush();
    const done = await work({
      orm,
      get em() {
        return (em ??= joinTransaction(orm, pipeline));
      },
      flush,
      async run<const Steps extends readonly Step[]>(steps: Steps) {
        await flush();
        return (await pipeline.run(steps.map(bind))) as RowsOf<Steps>; // as declared
      },
      later: (step) => pipeline.later(bind(step)),
      requireAtCommit(guard) {
        const [{ name }, values] = guard.step;
        const key = JSON.stringify([name, ...values]);
        if (!guards.has(key)) pipeline.last(bind(guard.step));
        guards.set(key, guard);
      },
      onCommit: (act) => afterwards.push(act),
      fail: pipeline.fail,
    });
    await flush();
    return done;
  }).catch((error: unknown) => {
    throw [...guards.values()].find((guard) => isRefusedBy(guard, error))?.refusal() ?? error;
  });
  for (const act of afterwards) act();
  return result;
}

const CHANGES = /^(insert|update|delete|merge)$/i;

/** Returns an entity manager whose statements run in an open transaction. It cannot open savepoints. */
function joinTransaction(orm: MikroORM, { query }: Pick<OpenPipeline, 'query'>): EntityManager {
  const em = orm.em.fork();
  em.setTransactionContext({
    // With the values in its text, as MikroORM sends all its statements.
    executeQuery: async <Row>({ sql }: { readonly sql: string }) => {
      const { command, rowCount, rows } = await query(sql);
      const changed = CHANGES.test(command) ? { numAffectedRows: BigInt(rowCount ?? 0) } : {};
      return { ...changed, rows: rows as Row[] };
    },
  });
  return em;
}
