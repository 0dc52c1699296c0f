import type { Change } from '../../transactions/steps.ts';
import { command, query, type Command } from '../../db/query.ts';
import type { Services } from '../../service/services.ts';
import type { EventName } from '../../events/catalogue.ts';
import type { EventFields } from '../../events/event.ts';
import { METADATA_EVENTS, ofPrivateMetadata } from '../../events/metadata-events.ts';
import { keepRows } from '../../transactions/lock-order.ts';
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
export type DryRun = Readonly<Record<Stage | 'email' | 'owner' | 'role', Set<string>>>;

/** The transaction of a batch. */
export type Batch = {
  readonly tx: Change;
  readonly services: Services;
  readonly importId: string;
  /** Whether rows are recorded only if they change an account or a team that the import did not create. */
  readonly isSilent: boolean;
  /** Null unless this is a dry run, which only reads. */
  readonly dryRun: DryRun | null;
};

export const refuse = (outcome: Outcome, line: number, code: string, detail: string): void =>
  void outcome.refused.push({ line, refusal: { code, detail } });

/** Declares what `insertRows` runs. The columns have the names and the types of the table; the first one is its key. */
export const insertInto = (table: string, columns: string, name = 'insert_imported', onConflict = '') =>
  command<{ id: string }>(
    `${table}_${name}`,
    `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1::json)
     ${onConflict} returning ${columns.split(',', 1)[0]} as id`,
  );

/** Inserts rows. @returns the ids of the inserted ones */
export async function insertRows(
  tx: Change,
  insert: Command<{ id: string }>,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const [inserted] = await tx.run([[insert, [JSON.stringify(rows)]]]);
  return new Set(inserted.map(({ id }) => id));
}

/** The columns of the metadata of a row. What an import creates has version 0. */
export const METADATA_COLUMNS = 'public_metadata, private_metadata';

export const toMetadataColumns = ({ metadata }: { readonly metadata: Row<'account'>['metadata'] }) => ({
  public_metadata: metadata.public,
  private_metadata: metadata.private,
});

/**
 * Records an event for each of many rows, in the transaction that inserts them. A silent import leaves out those that
 * are only about accounts and teams that it created itself.
 */
export async function recordRows(batch: Batch, event: EventName, rows: readonly EventFields[]): Promise<void> {
  const isTold = await selectTold(batch, rows);
  await batch.tx.record(event, rows.filter(isTold));
}

/** A row that was inserted with metadata. */
type Described = {
  readonly id: string;
  readonly fields: EventFields;
  readonly metadata: Row<'account'>['metadata'];
};

/** Records the parts of the metadata of inserted rows that are not empty, as their changes are recorded later. */
export async function recordMetadata(
  batch: Batch,
  table: keyof typeof METADATA_EVENTS,
  rows: readonly Described[],
): Promise<void> {
  const events = METADATA_EVENTS[table];
  const isTold = await selectTold(
    batch,
    rows.map(({ fields }) => fields),
  );
  const has = (part: 'public' | 'private') =>
    rows.filter(({ fields, metadata }) => Object.keys(metadata[part]).length > 0 && isTold(fields));
  await batch.tx.record(
    events.public,
    has('public').map(({ fields }) => fields),
  );
  await batch.tx.record(
    events.private,
    has('private').map(({ id, fields }) => ofPrivateMetadata(id, fields)),
  );
}

/** Returns which events of rows are recorded. */
async function selectTold(batch: Batch, rows: readonly EventFields[]): Promise<(fields: EventFields) => boolean> {
  const foreign = batch.isSilent ? await findForeign(batch, rows) : null;
  return ({ accountId, teamId }) => foreign === null || foreign.has(accountId ?? '') || foreign.has(teamId ?? '');
}

const foreignOf = query<{ id: string }>(
  'account_list_not_of_import',
  `select id from account where id = any(string_to_array($1, ' ')) and import_id is distinct from $2
   union all select id from team where id = any(string_to_array($1, ' ')) and import_id is distinct from $2`,
);

/** Returns the ids of those accounts and teams that the import did not create. */
export async function findForeign({ tx, importId }: Batch, rows: readonly EventFields[]): Promise<Set<string>> {
  const ids = [...new Set(rows.flatMap(({ accountId, teamId }) => [accountId ?? '', teamId ?? '']))].join(' ');
  const [found] = await tx.run([[foreignOf, [ids, importId]]]);
  return new Set(found.map(({ id }) => id));
}

type Named = 'account' | 'team';

const findNamed = (table: Named) =>
  query<{ id: string; external_id: string }>(
    `${table}_list_of_external_ids`,
    `select id, external_id from ${table} where external_id = any(array(select json_array_elements_text($1::json)))`,
  );
const NAMED = {
  account: { find: findNamed('account'), keep: keepRows('account') },
  team: { find: findNamed('team'), keep: keepRows('team') },
};

/** Prevents the deletion of rows until the commit. @returns the ids of those that exist */
export async function keepNamed(tx: Change, table: Named, ids: readonly string[]): Promise<Set<string>> {
  const [rows] = await tx.run([[NAMED[table].keep, [ids.join(' ')]]]);
  return new Set(rows.map(({ id }) => id));
}

/** Finds ids by external ids. */
export async function findIds(tx: Change, table: Named, externalIds: Iterable<string>): Promise<Map<string, string>> {
  const [rows] = await tx.run([[NAMED[table].find, [JSON.stringify([...new Set(externalIds)])]]]);
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
