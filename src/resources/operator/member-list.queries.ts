import { activeMembership } from '../../db/predicates.ts';
import { isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';
import type { Cursors } from '../../procedures/cursors.ts';
import { PAGE_ROWS, START, toPage } from './paging.ts';

type MemberRow = {
  id: string;
  account_id: string;
  external_id: string | null;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  role_id: string;
  role_name: string;
  is_active: boolean;
  joined_at: string | null;
  expires_at: string | null;
};

const SELECT = `select m.id, a.id as account_id, a.external_id, a.email, a.first_name, a.last_name, r.id as role_id,
    r.name as role_name, ${activeMembership('m')} as is_active, m.joined_at, m.expires_at
  from membership m join account a on a.id = m.account_id join role r on r.id = m.role_id`;

const memberPage = query<MemberRow>(
  'membership_list_page',
  `${SELECT} where m.team_id = $1 and m.id > $2 order by m.id limit ${PAGE_ROWS}`,
  { rows: 'many' },
);

/** What the console shows at once: all members of nearly every team, which it then searches and sorts. */
const MEMBERS_MAX = 10_000;

const manyMembers = query<MemberRow>(
  'membership_list_first',
  `${SELECT} where m.team_id = $1 and m.id > $2 order by m.id limit ${MEMBERS_MAX + 1}`,
  { rows: 'many' },
);

export const memberOfTeam = query<MemberRow>(
  'membership_find_for_operator',
  `${SELECT} where m.team_id = $1 and m.account_id = $2`,
);

export const teamExists = query<{ id: string }>('team_check_exists', 'select id from team where id = $1');

/** Lists the members of a team, whatever their status, in the order in which they were added. @throws team_not_found */
export const listMembers = (
  db: QueryRunner,
  cursors: Cursors,
  teamId: string,
  cursor: string | undefined,
  limit: number,
) => readMembers(db, memberPage, cursors, ['members', teamId], cursor, limit);

/** Lists the same in pages of 10,000. @throws team_not_found */
export const listManyMembers = (db: QueryRunner, cursors: Cursors, teamId: string, cursor: string | undefined) =>
  readMembers(db, manyMembers, cursors, ['many members', teamId], cursor, MEMBERS_MAX);

async function readMembers(
  db: QueryRunner,
  pages: typeof memberPage,
  cursors: Cursors,
  list: readonly [name: string, teamId: string],
  cursor: string | undefined,
  limit: number,
) {
  const [, teamId] = list;
  const { id } = cursors.read(list, cursor) ?? START;
  const [rows, found] = await Promise.all([db.query(pages, [teamId, id]), db.query(teamExists, [teamId])]);
  if (found.length === 0) throw new ProblemError('team_not_found');
  const positions = rows.map((row) => ({ ...row, sort: '' }));
  const { page, nextCursor } = toPage(cursors, list, positions, limit);
  return { members: page.map(present), nextCursor };
}

/** @throws member_not_found */
export async function readMember(db: QueryRunner, teamId: string, accountId: string) {
  const [row] = await db.query(memberOfTeam, [teamId, accountId]);
  if (row === undefined) throw new ProblemError('member_not_found');
  return present(row);
}

const present = (row: MemberRow) => ({
  membershipId: row.id,
  accountId: row.account_id,
  externalId: row.external_id,
  email: row.email,
  firstName: row.first_name,
  lastName: row.last_name,
  role: { id: row.role_id, name: row.role_name },
  isActive: row.is_active,
  joinedAt: isoOrNull(row.joined_at),
  expiresAt: isoOrNull(row.expires_at),
});
