import { toSingleLine } from '../../telemetry/log.ts';
import type { Refusal } from './rows.ts';

/**
 * Classes of SQLSTATE with which PostgreSQL rejects a row in every attempt: cardinality, data, integrity, program
 * limits, and exceptions of triggers (appendix A of its manual).
 */
const REJECTIONS: ReadonlySet<string> = new Set(['21', '22', '23', '44', '54', 'P0']);

const stateOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code)) ? String(error.code) : '';

/** Whether PostgreSQL rejects the data, so that another attempt fails too. */
export const isRejection = (error: unknown): boolean => REJECTIONS.has(stateOf(error).slice(0, 2));

/** Returns why the database failed, for the report of an import: its message, without the statement and the values. */
export function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // MikroORM puts the statement before the message, and the driver the values of the row behind it.
  const [own = ''] = message
    .replace(/\s+- detail: .*$/s, '')
    .split(' - ')
    .slice(-1);
  const state = stateOf(error);
  return `${toSingleLine(own).trim()}${state === '' ? '' : ` (SQLSTATE ${state})`}`;
}

/** Returns the refusal of a row that the database rejects. */
export const toRejection = (error: unknown): Refusal => ({
  code: 'rejected',
  detail: `The database rejected the row: ${describeFailure(error)}`,
});
