import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../db/database.ts';
import { toParameter, type Command, type Query } from '../db/query.ts';
import type { TransactionScope } from './transaction.ts';

/** Returns a database of which every transaction, statement and read is part of an open transaction. */
export const joined = (db: Database, tx: EntityManager): Database & TransactionScope => ({
  ...db,
  open: tx,
  em: () => tx,
  query: (statement, values) => execute(tx, statement, values),
  run: (statement, values) => execute(tx, statement, values),
  async runTogether(steps) {
    const results: object[][] = [];
    for (const [statement, values] of steps) results.push(await execute(tx, statement as Command<object>, values));
    return results;
  },
});

/** Runs a statement with the placeholders of MikroORM. */
function execute<Row>(tx: EntityManager, { text }: Query<Row> | Command<Row>, values: readonly unknown[]) {
  const used: unknown[] = [];
  const sql = text.replaceAll('?', '\\?').replaceAll(/\$(\d+)/g, (_, number: string) => {
    used.push(toParameter(values[Number(number) - 1]));
    return '?';
  });
  return tx.execute<Row[]>(used.length === 0 ? text : sql, used);
}
