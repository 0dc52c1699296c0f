import { iso, query, type QueryRunner } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';
import { DEFAULT_PLAN } from '../billing/plans.ts';
import type { Cursors, List, Position } from '../../procedures/cursors.ts';
import { PAGE_ROWS, PREFIX_END, toPage, toSearch } from './paging.ts';
import {
  byCreation,
  byUnique,
  byValue,
  declarePages,
  readSorted,
  startOf,
  toOrder,
  toSearchedList,
  type Order,
  type SortedPages,
  type SortField,
} from './sorting.ts';

type TeamRow = {
  id: string;
  external_id: string | null;
  name: string;
  slug: string;
  description: string | null;
  avatar_url: string | null;
  owner_id: string | null;
  plan_id: string | null;
  created_at: string;
  updated_at: string;
};

const select = (sort: string) =>
  `select t.id, t.external_id, t.name, t.slug, t.description, t.avatar_url, t.created_at, t.updated_at,
     (select m.account_id from membership m where m.team_id = t.id and m.role_id = 'owner') as owner_id,
     (select s.plan_id from subscription s where s.team_id = t.id) as plan_id, ${sort} as sort
   from team t`;

/** Of the index `team_name_page_index`. */
const NAME = `(lower(t.name collate pg_catalog."default") collate "C")`;

export const TEAM_ORDERS = ['createdAt', 'name', 'slug', 'externalId'] as const;

type Pages = SortedPages<TeamRow>;

const SLUG = byUnique('t.slug');
const ALL = {
  createdAt: declarePages<TeamRow>('team_list', select, byCreation('t.id')),
  name: declarePages<TeamRow>('team_list_sorted_by_name', select, byValue(NAME, 't.id')),
  slug: declarePages<TeamRow>('team_list_sorted_by_slug', select, SLUG),
};

/** Finds by the beginning of a field, in its order, so that one index does both. */
const searchBy = (name: string, field: SortField, prefix = '$1'): Pages =>
  declarePages(
    `team_list_by_${name}`,
    select,
    field,
    `${field.value} >= ${prefix} and ${field.value} < (${prefix} || ${PREFIX_END})`,
  );

const SEARCHES: Readonly<Record<string, Pages>> = {
  name: searchBy('name', byValue(NAME, 't.id'), 'lower($1)'),
  slug: searchBy('slug', SLUG),
  externalId: searchBy('external_id', byUnique('t.external_id')),
};

/** The teams of a plan in the order of their creation, which the index of the plans has. */
const OF_PLAN: Pages = declarePages(
  'team_list_of_plan',
  (sort) => `${select(sort)} join subscription p on p.team_id = t.id`,
  {
    value: `''`,
    after: [
      '(p.plan_id, p.team_id) > ($1, $3) and p.plan_id <= $1',
      '(p.plan_id, p.team_id) < ($1, $3) and p.plan_id >= $1',
    ],
    orderBy: ['p.plan_id, p.team_id', 'p.plan_id desc, p.team_id desc'],
  },
);

/** The most teams that a page of the default plan reads, of whatever plan they are. */
const READ_MAX = 2500;

type DefaultPlanRow = { [Column in keyof TeamRow]: TeamRow[Column] | null } & {
  readonly sort: string | null;
  /** The last team that the statement could read; null if that is the last of all. */
  readonly edge: string | null;
};

/**
 * Of the default plan are also the teams without a subscription, which no index finds: the page passes over the teams
 * of other plans, and ends after `READ_MAX`. Without a match there is one row, with the edge.
 */
const defaultPlanPage = (suffix: string, [after, until, order]: readonly [string, string, string]) =>
  query<DefaultPlanRow>(
    `team_list_of_default_plan${suffix}`,
    `with edge as materialized (
       select (select id from team where id ${after} $3 order by id ${order} offset ${READ_MAX - 1} limit 1) as id
     )
     select found.*, edge.id as edge
     from edge left join lateral (
       ${select(`''`)}
       where coalesce((select p.plan_id from subscription p where p.team_id = t.id), '${DEFAULT_PLAN}') = $1
         and $2 = '' and t.id ${after} $3 and t.id ${until}
       order by t.id ${order} limit ${PAGE_ROWS}
     ) found on true
     order by found.id ${order}`,
    { rows: 'many' },
  );

const DEFAULT_PLAN_PAGES = [
  defaultPlanPage('', ['>', `<= coalesce(edge.id, ${PREFIX_END})`, 'asc']),
  defaultPlanPage('_desc', ['<', `>= coalesce(edge.id, '')`, 'desc']),
] as const;

const teamOfId = query<TeamRow>('team_find_by_id', `${select(`''`)} where t.id = $1`);

export type TeamSearch = {
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  readonly externalId?: string | undefined;
  /** Compared as a whole, with the plan that `getTeamBilling` shows. */
  readonly planId?: string | undefined;
  /** One of `TEAM_ORDERS`, with `-` before it for the opposite direction. */
  readonly sort?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/**
 * Lists teams: all in the order of their creation or of another field, those of a plan in the order of their creation,
 * or those that a prefix finds in the order of that field.
 */
export async function listTeams(db: QueryRunner, cursors: Cursors, { cursor, limit, sort, ...prefixes }: TeamSearch) {
  const [name, prefix] = toSearch(prefixes);
  const search = SEARCHES[name];
  const fields = search !== undefined ? [name] : name === 'planId' ? ['createdAt'] : Object.keys(ALL);
  const order = toOrder(sort, fields);
  const list = toSearchedList('teams', [name, prefix], order);
  const after = cursors.read(list, cursor);
  if (name === 'planId' && prefix === DEFAULT_PLAN) return listDefaultPlan(db, cursors, list, order, after, limit);
  const pages = search ?? (name === 'planId' ? OF_PLAN : ALL[order.field as keyof typeof ALL]); // one of its keys
  const { page, nextCursor } = toPage(cursors, list, await readSorted(db, pages, order, prefix, after), limit);
  return { teams: page.map(present), nextCursor };
}

/** A page can be short, or empty, although more teams follow. */
async function listDefaultPlan(
  db: QueryRunner,
  cursors: Cursors,
  list: List,
  { isDescending }: Order<string>,
  after: Position | undefined,
  limit: number,
) {
  const { id } = after ?? startOf(isDescending);
  const rows = await db.query(DEFAULT_PLAN_PAGES[isDescending ? 1 : 0], [DEFAULT_PLAN, '', id]);
  const edge = rows[0]?.edge ?? null;
  const found = rows.filter((row): row is DefaultPlanRow & TeamRow & { sort: string } => row.id !== null);
  const { page, nextCursor } = toPage(cursors, list, found, limit);
  return { teams: page.map(present), nextCursor: nextCursor ?? (edge && cursors.write(list, { sort: '', id: edge })) };
}

/** @throws team_not_found */
export async function readTeam(db: QueryRunner, teamId: string) {
  const [row] = await db.query(teamOfId, [teamId]);
  if (row === undefined) throw new ProblemError('team_not_found');
  return present(row);
}

const present = (row: TeamRow) => ({
  id: row.id,
  externalId: row.external_id,
  name: row.name,
  slug: row.slug,
  description: row.description,
  avatarUrl: row.avatar_url,
  ownerId: row.owner_id,
  planId: row.plan_id ?? DEFAULT_PLAN,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});
