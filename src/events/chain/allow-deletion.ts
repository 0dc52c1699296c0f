import type { Sql } from './sql.ts';

/**
 * What the triggers of the audit log require of a transaction that deletes. It was `on` in versions whose retention did
 * not sign the beginning of the chain, so that theirs fails beside this one.
 */
const SIGNS_ROOT = 'signs root';

/** Lets the transaction delete rows of the audit log. The caller signs the beginning of the chain if it moves. */
export const allowDeletion = (tx: Sql): Promise<object[]> => setRetention(tx, SIGNS_ROOT);

export const endDeletion = (tx: Sql): Promise<object[]> => setRetention(tx, '');

const setRetention = (tx: Sql, value: string): Promise<object[]> =>
  tx.execute(`select set_config('roster.retention', ?, true)`, [value]);
