import { iso, isoOrNull, query, type Query, type QueryRunner } from '../../db/query.ts';
import type { ACCOUNT_ROLES } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { PAGE_ROWS, PREFIX_END, readCursor, toPage, toSearch } from './paging.ts';

type AccountRow = {
  id: string;
  external_id: string | null;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  avatar: string | null;
  preferred_locale: string | null;
  role: (typeof ACCOUNT_ROLES)[number];
  email_verified_at: string | null;
  disabled_at: string | null;
  created_at: string;
  updated_at: string;
};

const select = (sort: string) =>
  `select id, external_id, email, first_name, last_name, avatar, preferred_locale, role, email_verified_at,
     disabled_at, created_at, updated_at, ${sort} as sort
   from account`;

/** Of the index `account_name_page_index`. */
const NAME = `(lower(ltrim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))) collate "C")`;

/** Of the index `account_last_name_page_index`. */
const LAST_NAME = `(lower(last_name) collate "C")`;

type Page = Query<AccountRow & { sort: string }>;

const byName = (name: string, sort: string): Page =>
  query(
    name,
    `${select(sort)}
     where ${sort} >= lower($1) and ${sort} < (lower($1) || ${PREFIX_END}) and (${sort}, id) > ($2, $3)
     order by ${sort}, id limit ${PAGE_ROWS}`,
    { rows: 'many' },
  );

/** Pages by what they search. $1 is the prefix, $2 and $3 are the position. Each reads an index in its order. */
const PAGES: Readonly<Record<string, Page>> = {
  '': query(
    'operator_accounts',
    `${select(`''`)} where $1 = '' and $2 = '' and id > $3 order by id limit ${PAGE_ROWS}`,
    {
      rows: 'many',
    },
  ),
  disabled: query(
    'operator_accounts_disabled',
    `${select(`''`)} where disabled_at is not null and $1 <> '' and $2 = '' and id > $3 order by id limit ${PAGE_ROWS}`,
    { rows: 'many' },
  ),
  email: query(
    'operator_accounts_by_email',
    `${select('lower(email)')}
     where lower(email) ~>=~ lower($1) and lower(email) ~<~ (lower($1) || ${PREFIX_END})
       and lower(email) ~>~ $2 and id <> $3
     order by lower(email) using ~<~ limit ${PAGE_ROWS}`,
    { rows: 'many' },
  ),
  name: byName('operator_accounts_by_name', NAME),
  lastName: byName('operator_accounts_by_last_name', LAST_NAME),
  externalId: query(
    'operator_accounts_by_external_id',
    `${select('external_id')}
     where external_id >= $1 and external_id < ($1 || ${PREFIX_END}) and external_id > $2 and id <> $3
     order by external_id limit ${PAGE_ROWS}`,
    { rows: 'many' },
  ),
};

const accountOfId = query<AccountRow>('operator_account_of_id', `${select(`''`)} where id = $1`);

export type AccountSearch = {
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly lastName?: string | undefined;
  readonly externalId?: string | undefined;
  readonly disabled?: boolean | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/** Lists accounts: all in the order of their creation, or those that a prefix finds in the order of that field. */
export async function listAccounts(db: QueryRunner, { cursor, limit, disabled, ...prefixes }: AccountSearch) {
  const [field, prefix] = toSearch({ ...prefixes, ...(disabled && { disabled: 'true' }) });
  const search = JSON.stringify([field, prefix]);
  const { sort, id } = readCursor(search, cursor);
  const rows = await db.query(PAGES[field] as Page, [prefix, sort, id]); // one for each field of the input
  const { page, nextCursor } = toPage(search, rows, limit);
  return { accounts: page.map(present), nextCursor };
}

/** @throws account_not_found */
export async function readAccount(db: QueryRunner, accountId: string) {
  const [row] = await db.query(accountOfId, [accountId]);
  if (row === undefined) throw new ProblemError('account_not_found');
  return present(row);
}

const present = (row: AccountRow) => ({
  id: row.id,
  externalId: row.external_id,
  email: row.email,
  firstName: row.first_name,
  lastName: row.last_name,
  avatar: row.avatar,
  preferredLocale: row.preferred_locale,
  role: row.role,
  emailVerified: isoOrNull(row.email_verified_at),
  disabledAt: isoOrNull(row.disabled_at),
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});
