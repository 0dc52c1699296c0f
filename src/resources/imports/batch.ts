import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../app-services.ts';
import type { Refusal, Row, Stage } from './rows.ts';

/** A valid row with its line. */
export type Numbered<S extends Stage> = { readonly line: number; readonly row: Row<S> };

/** What became of the rows of a batch. `existing` rows are left as they are. */
export type Outcome = {
  created: number;
  existing: number;
  readonly refused: { readonly line: number; readonly refusal: Refusal }[];
};

export const newOutcome = (): Outcome => ({ created: 0, existing: 0, refused: [] });

/** What a dry run would have imported, by stage, because no row of it is in the database. */
export type DryRun = Readonly<Record<Stage | 'email' | 'owner', Set<string>>>;

/** The transaction of a batch. */
export type Batch = {
  readonly tx: EntityManager;
  readonly services: Services;
  /** Null unless this is a dry run, which only reads. */
  readonly dryRun: DryRun | null;
};

export const refuse = (outcome: Outcome, line: number, code: string, detail: string): void =>
  void outcome.refused.push({ line, refusal: { code, detail } });

/** Inserts rows. The columns have the names and the types of the table. @returns the number of inserted rows */
export async function insertRows(
  tx: EntityManager,
  table: string,
  columns: string,
  rows: readonly Readonly<Record<string, unknown>>[],
  onConflict = '',
): Promise<number> {
  if (rows.length === 0) return 0;
  const inserted = await tx.execute<unknown[]>(
    `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, ?::json)
     ${onConflict} returning 1 as inserted`,
    [JSON.stringify(rows)],
  );
  return inserted.length;
}

/** Finds ids by external ids. */
export async function findIds(
  tx: EntityManager,
  table: 'account' | 'team',
  externalIds: Iterable<string>,
): Promise<Map<string, string>> {
  const rows = await tx.execute<{ id: string; external_id: string }[]>(
    `select id, external_id from ${table} where external_id = any(array(select json_array_elements_text(?::json)))`,
    [JSON.stringify([...new Set(externalIds)])],
  );
  return new Map(rows.map(({ id, external_id: externalId }) => [externalId, id]));
}

/** Adds what a dry run would have imported, under its external id. */
export function addPlanned(
  ids: Map<string, string>,
  planned: ReadonlySet<string> | undefined,
  wanted: Iterable<string>,
): void {
  for (const id of wanted) if (planned?.has(id) === true) ids.set(id, id);
}
