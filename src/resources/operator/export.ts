import { csvLine } from '../../csv.ts';
import type { QueryRunner } from '../../db/query.ts';
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
] as const;

/** The lists that an operator can export, with the search, filter and order of `listAccounts` and `listTeams`. */
export const EXPORTS = {
  accounts: {
    input: listAccountsInput.omit(PLACE),
    columns: ACCOUNT_COLUMNS,
    read: async (db: QueryRunner, input: object, cursor: string | undefined): Promise<Page> => {
      const { accounts: items, nextCursor } = await listAccounts(db, { ...input, cursor, limit: PAGE_MAX });
      return { items, nextCursor };
    },
  },
  teams: {
    input: listTeamsInput.omit(PLACE),
    columns: TEAM_COLUMNS,
    read: async (db: QueryRunner, input: object, cursor: string | undefined): Promise<Page> => {
      const { teams: items, nextCursor } = await listTeams(db, { ...input, cursor, limit: PAGE_MAX });
      return { items, nextCursor };
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
  name: ExportName,
  input: object,
  check: () => Promise<void>,
): AsyncGenerator<string> {
  const { columns, read } = EXPORTS[name];
  let text = csvLine(columns);
  for (let cursor: string | null | undefined; cursor !== null;) {
    await check();
    const { items, nextCursor } = await read(db, input, cursor);
    text += items.map((item) => csvLine(columns.map((column) => (item as Record<string, unknown>)[column]))).join('');
    // Also of a page without rows, which others can follow.
    if (text !== '') yield text;
    [text, cursor] = ['', nextCursor];
  }
}
