import { iso, query, type Query, type QueryRunner } from '../../db/query.ts';
import { ProblemError } from '../../errors.ts';
import { DEFAULT_PLAN } from '../billing/plans.ts';
import { PAGE_ROWS, PREFIX_END, readCursor, toCursor, toPage, toSearch } from './paging.ts';

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

type Page = Query<TeamRow & { sort: string }>;

const byUnique = (name: string, column: string): Page =>
  query(
    name,
    `${select(column)}
     where ${column} >= $1 and ${column} < ($1 || ${PREFIX_END}) and ${column} > $2 and t.id <> $3
     order by ${column} limit ${PAGE_ROWS}`,
    { rows: 'many' },
  );

/** Pages by what they search. $1 is the prefix, $2 and $3 are the position. Each reads an index in its order. */
const PAGES: Readonly<Record<string, Page>> = {
  '': query(
    'operator_teams',
    `${select(`''`)} where $1 = '' and $2 = '' and t.id > $3 order by t.id limit ${PAGE_ROWS}`,
    {
      rows: 'many',
    },
  ),
  name: query(
    'operator_teams_by_name',
    `${select(NAME)}
     where ${NAME} >= lower($1) and ${NAME} < (lower($1) || ${PREFIX_END}) and (${NAME}, t.id) > ($2, $3)
     order by ${NAME}, t.id limit ${PAGE_ROWS}`,
    { rows: 'many' },
  ),
  slug: byUnique('operator_teams_by_slug', 't.slug'),
  externalId: byUnique('operator_teams_by_external_id', 't.external_id'),
  planId: query(
    'operator_teams_of_plan',
    `${select(`''`)} join subscription p on p.team_id = t.id
     where (p.plan_id, p.team_id) > ($1, $3) and p.plan_id <= $1 and $2 = ''
     order by p.plan_id, p.team_id limit ${PAGE_ROWS}`,
    { rows: 'many' },
  ),
};

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
const defaultPlanPage = query<DefaultPlanRow>(
  'operator_teams_of_default_plan',
  `with edge as materialized (
     select (select id from team where id > $3 order by id offset ${READ_MAX - 1} limit 1) as id
   )
   select found.*, edge.id as edge
   from edge left join lateral (
     ${select(`''`)}
     where coalesce((select p.plan_id from subscription p where p.team_id = t.id), '${DEFAULT_PLAN}') = $1
       and $2 = '' and t.id > $3 and t.id <= coalesce(edge.id, ${PREFIX_END})
     order by t.id limit ${PAGE_ROWS}
   ) found on true
   order by found.id`,
  { rows: 'many' },
);

const teamOfId = query<TeamRow>('operator_team_of_id', `${select(`''`)} where t.id = $1`);

export type TeamSearch = {
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  readonly externalId?: string | undefined;
  /** Compared as a whole, with the plan that `getTeamBilling` shows. */
  readonly planId?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/**
 * Lists teams: all or those of a plan in the order of their creation, or those that a prefix finds in the order of that
 * field.
 */
export async function listTeams(db: QueryRunner, { cursor, limit, ...prefixes }: TeamSearch) {
  const [field, prefix] = toSearch(prefixes);
  const search = JSON.stringify([field, prefix]);
  const { sort, id } = readCursor(search, cursor);
  if (field === 'planId' && prefix === DEFAULT_PLAN) return listDefaultPlan(db, search, id, limit);
  const rows = await db.query(PAGES[field] as Page, [prefix, sort, id]); // one for each field of the input
  const { page, nextCursor } = toPage(search, rows, limit);
  return { teams: page.map(present), nextCursor };
}

/** A page can be short, or empty, although more teams follow. */
async function listDefaultPlan(db: QueryRunner, search: string, after: string, limit: number) {
  const rows = await db.query(defaultPlanPage, [DEFAULT_PLAN, '', after]);
  const edge = rows[0]?.edge ?? null;
  const found = rows.filter((row): row is DefaultPlanRow & TeamRow & { sort: string } => row.id !== null);
  const { page, nextCursor } = toPage(search, found, limit);
  return { teams: page.map(present), nextCursor: nextCursor ?? (edge && toCursor(search, edge)) };
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
