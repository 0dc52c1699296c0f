import { CSV_MARK, csvLine } from '../../csv.ts';
import { query, type Query, type QueryRunner } from '../../db/query.ts';
import type { Cursors } from '../../procedures/cursors.ts';
import { listAccounts } from './account-list.queries.ts';
import { listAccountsInput, listTeamsInput } from './operator-api.schema.ts';
import { PAGE_MAX } from './paging.ts';
import { listTeams } from './team-list.queries.ts';

const PLACE = { cursor: true, limit: true } as const;

type Page = { readonly items: readonly object[]; readonly nextCursor: string | null };

const ACCOUNT_COLUMNS = [
  'id',
  'externalId',
  'email',
  'emailVerified',
  'firstName',
  'lastName',
  'role',
  'preferredLocale',
  'disabledAt',
  'createdAt',
  'updatedAt',
  'publicMetadata',
  'privateMetadata',
] as const;

const TEAM_COLUMNS = [
  'id',
  'externalId',
  'name',
  'slug',
  'description',
  'ownerId',
  'planId',
  'createdAt',
  'updatedAt',
  'publicMetadata',
  'privateMetadata',
] as const;

type Item = { readonly id: string };
type MetadataRow = Item & { readonly publicMetadata: string | null; readonly privateMetadata: string | null };

/** Reads each part as JSON; null where it is empty. */
const metadataOf = (table: 'account' | 'team') =>
  query<MetadataRow>(
    `${table}_export_metadata`,
    `select id, nullif(public_metadata::text, '{}') as "publicMetadata",
       nullif(private_metadata::text, '{}') as "privateMetadata"
     from ${table} where id = any(string_to_array($1, ' '))`,
  );
const accountMetadata = metadataOf('account');
const teamMetadata = metadataOf('team');

/** Adds the metadata of a page's rows. */
async function withMetadata(db: QueryRunner, items: readonly Item[], read: Query<MetadataRow>): Promise<object[]> {
  const rows = await db.query(read, [items.map(({ id }) => id).join(' ')]);
  const found = new Map(rows.map((row) => [row.id, row]));
  return items.map((item) => ({ ...item, ...found.get(item.id) }));
}

/** The lists that an operator can export, with the search, filter and order of `listAccounts` and `listTeams`. */
export const EXPORTS = {
  accounts: {
    input: listAccountsInput.omit(PLACE),
    columns: ACCOUNT_COLUMNS,
    read: async (db: QueryRunner, cursors: Cursors, input: object, cursor: string | undefined): Promise<Page> => {
      const { accounts: items, nextCursor } = await listAccounts(db, cursors, { ...input, cursor, limit: PAGE_MAX });
      return { items: await withMetadata(db, items, accountMetadata), nextCursor };
    },
  },
  teams: {
    input: listTeamsInput.omit(PLACE),
    columns: TEAM_COLUMNS,
    read: async (db: QueryRunner, cursors: Cursors, input: object, cursor: string | undefined): Promise<Page> => {
      const { teams: items, nextCursor } = await listTeams(db, cursors, { ...input, cursor, limit: PAGE_MAX });
      return { items: await withMetadata(db, items, teamMetadata), nextCursor };
    },
  },
} as const;

export type ExportName = keyof typeof EXPORTS;

/**
 * Yields a list as CSV, page by page, so that few rows are in memory.
 * @param check runs before each page, and ends the export by throwing
 */
export async function* exportList(
  db: QueryRunner,
  cursors: Cursors,
  name: ExportName,
  input: object,
  check: () => Promise<void>,
): AsyncGenerator<string> {
  const { columns, read } = EXPORTS[name];
  let text = CSV_MARK + csvLine(columns);
  for (let cursor: string | null | undefined; cursor !== null;) {
    await check();
    const { items, nextCursor } = await read(db, cursors, input, cursor);
    text += items.map((item) => csvLine(columns.map((column) => (item as Record<string, unknown>)[column]))).join('');
    // Also of a page without rows, which others can follow.
    if (text !== '') yield text;
    [text, cursor] = ['', nextCursor];
  }
}
