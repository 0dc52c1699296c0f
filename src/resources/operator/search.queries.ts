import { isoOrNull, query, type QueryRunner } from '../../db/query.ts';

/** Maximum number of accounts, and of teams, in a search result. */
export const FOUND_MAX = 20;

type AccountRow = {
  id: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  disabled_at: string | null;
};
type TeamRow = { id: string; name: string; slug: string };

// Each branch reads an index in its order and stops at the limit, however many rows match.
export const findAccounts = query<AccountRow>(
  'account_list_search',
  `select id, email, first_name, last_name, disabled_at from account where id = $1
   union all
   (select id, email, first_name, last_name, disabled_at from account
    where lower(email) like lower($2) and id <> $1
    order by lower(email) using ~<~ limit ${FOUND_MAX})`,
  { rows: 'many' },
);

export const findTeams = query<TeamRow>(
  'team_list_search',
  `select id, name, slug from team where id = $1
   union all
   (select id, name, slug from team where lower(name collate pg_catalog."default") like lower($2)
    order by lower(name collate pg_catalog."default") using ~<~ limit ${FOUND_MAX})
   union all
   (select id, name, slug from team where slug like lower($2) order by slug limit ${FOUND_MAX})`,
  { rows: 'many' },
);

/** Finds accounts and teams by id, or by the beginning of an email address, name or slug. */
export async function find(db: QueryRunner, query: string) {
  const values = [query, `${query.replace(/[\\%_]/g, '\\$&')}%`];
  const [accounts, teams] = await Promise.all([db.query(findAccounts, values), db.query(findTeams, values)]);
  const distinct = [...new Map(teams.map((team) => [team.id, team])).values()];
  return {
    accounts: accounts.slice(0, FOUND_MAX).map((row) => ({
      id: row.id,
      email: row.email,
      firstName: row.first_name,
      lastName: row.last_name,
      disabledAt: isoOrNull(row.disabled_at),
    })),
    teams: distinct.slice(0, FOUND_MAX).map(({ id, name, slug }) => ({ id, name, slug })),
  };
}
