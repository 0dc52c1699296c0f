import type { z } from 'zod';
import { query, type Query, type QueryRunner } from '../query.ts';
import { PART_ITEMS, type JsonList } from './json-list.ts';

/** From how many items a list is too long to be read beside others on a connection. */
const LONG_ITEMS = 200;

/** A list as its interface wants it, whole, whose JSON PostgreSQL makes. */
export type List<Item> = {
  readonly name: string;
  /** Describes an item. It is not checked at run time: `test/db/lists.test.ts` checks every list. */
  readonly item: z.ZodType<Item>;
  /** Returns the items of a short list; null for a long one, of which it has read no more than ids. */
  readonly short: Query<{ items: string | null }>;
  readonly long: Query<{ items: string; length: number }>;
};

/** Runs queries, and reads whole lists. */
export type ListRunner = QueryRunner & {
  /** Reads a list. Accounts take turns with long ones. @throws BusyError, CallerGoneError */
  list<Item>(list: List<Item>, values: readonly unknown[]): Promise<JsonList<Item>>;
};

type Selection = {
  /** Selects the items in their order. Its columns have the names and the order of the fields of an item. */
  readonly select: string;
  /** What has as many rows as the list, such as `membership where team_id = $1`. */
  readonly from: string;
  /** See `query`. */
  readonly rows?: Query<unknown>['rows'];
};

const declared: List<unknown>[] = [];

/** Returns every list that the modules imported so far declare. */
export const declaredLists = (): readonly List<unknown>[] => declared;

/**
 * Declares a list. Most lists are short, and travel with other reads; one of more than 200 items is read in its turn.
 * @param item the schema of an item
 */
export function list<Item>(name: string, item: z.ZodType<Item>, { select, from, rows }: Selection): List<Item> {
  // PostgreSQL keeps the order of a sorted subselect, and plans for few rows because of its limit. Not `json_agg`, which
  // puts a line end between items.
  const short = query<{ items: string | null }>(
    name,
    `select case when not exists (select from ${from} offset ${LONG_ITEMS}) then coalesce(
       (select string_agg(row_to_json(item)::text, ',') from (${select} limit ${LONG_ITEMS}) item), '') end as items`,
    rows === undefined ? {} : { rows },
  );
  const long = query<{ items: string; length: number }>(
    `${name}_in_parts`,
    // Each part is made while the one before is received, because its order is that of its group.
    `select string_agg(row_to_json(part.item)::text, ',' order by part.position) as items, count(*)::int as length
     from (select item, row_number() over () - 1 as position from (${select}) item) part
     group by part.position / ${PART_ITEMS} order by part.position / ${PART_ITEMS}`,
    { rows: 'many' },
  );
  const one = { name, item, short, long };
  declared.push(one);
  return one;
}

/** SQL for an instant as responses have it: in ISO 8601, to the millisecond. */
export const instant = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
