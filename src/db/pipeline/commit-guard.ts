import { DatabaseError } from 'pg';
import { query, type Step } from '../query.ts';

/** A statement that is sent with the commit and can prevent it, and what the transaction then fails with. */
export type CommitGuard = { readonly step: Step; readonly refusal: () => Error };

/**
 * Declares the statement of a commit guard. PostgreSQL skips the commit after a statement that fails, so this one fails
 * unless the condition is true.
 */
export const guardStatement = (name: string, condition: string) =>
  query<{ passed: number }>(
    name,
    `select case when holds then 1 else refuse_commit('${name}') end as passed
     from (select (${condition}) is true as holds) asked`,
  );

/** The SQLSTATE of `refuse_commit` (its migration). */
const REFUSED = 'RS001';

/** Whether an error is that of a guard. */
export const isRefusedBy = ({ step: [{ name }] }: CommitGuard, error: unknown): boolean =>
  error instanceof DatabaseError && error.code === REFUSED && error.message === name;
