import { findConstraint } from '../db/errors.ts';
import { ProblemError } from '../problems/error.ts';

/** The values that must be unique, by the name of their index: pointer and message. */
export type UniqueValues = Readonly<Record<string, readonly [pointer: string, detail: string]>>;

/** Runs a change whose values can be in use already. Other violations are thrown as they are. @throws already_taken (409) */
export async function reportTaken<R>(values: UniqueValues, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    const taken = values[findConstraint(error) ?? ''];
    if (taken === undefined) throw error;
    const [pointer, detail] = taken;
    throw new ProblemError('already_taken', detail, { errors: [{ in: 'body', pointer, code: 'invalid_value' }] });
  }
}
