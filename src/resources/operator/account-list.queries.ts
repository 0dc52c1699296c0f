import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import type { ACCOUNT_ROLES } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { Cursors } from '../../procedures/cursors.ts';
import { PREFIX_END, toPage, toSearch } from './paging.ts';
import {
  byCreation,
  byUnique,
  byValue,
  declarePages,
  readSorted,
  toOrder,
  toSearchedList,
  type SortedPages,
  type SortField,
} from './sorting.ts';

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

/** Of the index `account_email_unique`, with the operators of its class. */
const EMAIL: SortField = {
  value: 'lower(email)',
  after: ['lower(email) ~>~ $2', 'lower(email) ~<~ $2'],
  orderBy: ['lower(email) using ~<~', 'lower(email) using ~>~'],
  without: { where: 'email is null', orderBy: byCreation('id').orderBy },
};

const FIELDS = {
  createdAt: byCreation('id'),
  email: EMAIL,
  name: byValue(NAME, 'id', `= ''`),
  lastName: byValue(LAST_NAME, 'id', 'is null'),
} as const;

export const ACCOUNT_ORDERS = ['createdAt', 'email', 'name', 'lastName', 'externalId'] as const;

type Pages = SortedPages<AccountRow>;

const pagesOf = (name: string, where?: string) => ({
  createdAt: declarePages<AccountRow>(name, select, FIELDS.createdAt, where),
  email: declarePages<AccountRow>(`${name}_sorted_by_email`, select, FIELDS.email, where),
  name: declarePages<AccountRow>(`${name}_sorted_by_name`, select, FIELDS.name, where),
  lastName: declarePages<AccountRow>(`${name}_sorted_by_last_name`, select, FIELDS.lastName, where),
});

/** Finds by the beginning of a field, in its order, so that one index does both. */
const searchBy = (name: string, field: SortField, where: string): Pages =>
  declarePages(`account_list_by_${name}`, select, { ...field, without: undefined }, where);

const beginsWith = (value: string): string => `${value} >= lower($1) and ${value} < (lower($1) || ${PREFIX_END})`;

const ALL = pagesOf('account_list');
const DISABLED = pagesOf('account_list_disabled', 'disabled_at is not null');
const SEARCHES: Readonly<Record<string, Pages>> = {
  email: searchBy('email', EMAIL, `lower(email) ~>=~ lower($1) and lower(email) ~<~ (lower($1) || ${PREFIX_END})`),
  name: searchBy('name', FIELDS.name, beginsWith(NAME)),
  lastName: searchBy('last_name', FIELDS.lastName, beginsWith(LAST_NAME)),
  externalId: searchBy(
    'external_id',
    byUnique('external_id'),
    `external_id >= $1 and external_id < ($1 || ${PREFIX_END})`,
  ),
};

const accountOfId = query<AccountRow>('account_find_by_id', `${select(`''`)} where id = $1`);

export type AccountSearch = {
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly lastName?: string | undefined;
  readonly externalId?: string | undefined;
  readonly disabled?: boolean | undefined;
  /** One of `ACCOUNT_ORDERS`, with `-` before it for the opposite direction. */
  readonly sort?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/**
 * Lists accounts in the order of their creation or of another field, or those that a prefix finds in the order of that
 * field. Accounts without the field come last.
 */
export async function listAccounts(
  db: QueryRunner,
  cursors: Cursors,
  { cursor, limit, disabled, sort, ...prefixes }: AccountSearch,
) {
  const [name, prefix] = toSearch({ ...prefixes, ...(disabled && { disabled: 'true' }) });
  const search = SEARCHES[name];
  const lists = name === 'disabled' ? DISABLED : ALL;
  const fields = search === undefined ? Object.keys(lists) : [name];
  const order = toOrder(sort, fields);
  const list = toSearchedList('accounts', [name, prefix], order);
  const pages = search ?? lists[order.field as keyof typeof lists]; // one of its keys
  const rows = await readSorted(db, pages, order, prefix, cursors.read(list, cursor));
  const { page, nextCursor } = toPage(cursors, list, rows, limit);
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
