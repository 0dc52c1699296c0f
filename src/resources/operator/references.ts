import { query, type QueryRunner } from '../../db/query.ts';
import { EXTERNAL_ID_PREFIX } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { ProblemCode } from '../../problems/catalogue.ts';
import { text } from '../../procedures/fields.ts';

const LENGTH_MAX = 255;

/** An id, or `ext:` and the external id. */
const reference = text(1, EXTERNAL_ID_PREFIX.length + LENGTH_MAX).check(({ value, issues }) => {
  if (value.startsWith(EXTERNAL_ID_PREFIX) || value.length <= LENGTH_MAX) return;
  issues.push({ code: 'too_big', origin: 'string', maximum: LENGTH_MAX, inclusive: true, input: value });
});

export const accountReference = reference.meta({
  description: 'The id of an account, or `ext:` and its external id.',
  example: 'acc_0cn7r2h8vtk3p9qj6mdb5ce0ol',
});

export const teamReference = reference.meta({
  description: 'The id of a team, or `ext:` and its external id.',
  example: 'team_0cn7s5l4a9nkf9u7h2q0bf5m7e',
});

export const externalId = text(1, LENGTH_MAX);

export const accountOfExternalId = query<{ id: string }>(
  'account_find_by_external_id',
  'select id from account where external_id = $1',
);

const teamOfExternalId = query<{ id: string }>(
  'team_find_by_external_id',
  'select id from team where external_id = $1',
);

/** Returns the id that a reference stands for. @throws account_not_found for an unknown external id */
export const toAccountId = (db: QueryRunner, given: string): Promise<string> =>
  resolve(db, given, accountOfExternalId, 'account_not_found');

/** Returns the id that a reference stands for. @throws team_not_found for an unknown external id */
export const toTeamId = (db: QueryRunner, given: string): Promise<string> =>
  resolve(db, given, teamOfExternalId, 'team_not_found');

async function resolve(
  db: QueryRunner,
  given: string,
  look: typeof accountOfExternalId,
  unknown: ProblemCode,
): Promise<string> {
  if (!given.startsWith(EXTERNAL_ID_PREFIX)) return given;
  const [row] = await db.query(look, [given.slice(EXTERNAL_ID_PREFIX.length)]);
  if (row === undefined) throw new ProblemError(unknown);
  return row.id;
}
