import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { ProblemError } from '../errors.ts';

/** The values that must be unique, by the name of their index: pointer and message. */
export type UniqueValues = Readonly<Record<string, readonly [pointer: string, detail: string]>>;

/** Runs a change whose values can be in use already. Other violations are thrown as they are. @throws already_taken (409) */
export async function reportTaken<R>(values: UniqueValues, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    const index = error instanceof UniqueConstraintViolationException && 'constraint' in error ? error.constraint : '';
    const taken = values[String(index)];
    if (taken === undefined) throw error;
    const [pointer, detail] = taken;
    throw new ProblemError('already_taken', detail, { errors: [{ in: 'body', pointer, code: 'invalid_value' }] });
  }
}
