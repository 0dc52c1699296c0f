import { query, type Query, type QueryRunner } from '../../db/query.ts';
import type { JsonObject } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { ProblemCode } from '../../problems/catalogue.ts';

export type Metadata = { readonly public: JsonObject; readonly private: JsonObject; readonly version: number };

const columns = (row: string) =>
  `${row}.public_metadata as public, ${row}.private_metadata as private, ${row}.metadata_version as version`;

const ofAccount = query<Metadata>('account_find_metadata', `select ${columns('a')} from account a where a.id = $1`);
const ofTeam = query<Metadata>('team_find_metadata', `select ${columns('t')} from team t where t.id = $1`);
const ofMember = query<Metadata>(
  'membership_find_metadata',
  `select ${columns('m')} from membership m where m.team_id = $1 and m.account_id = $2`,
);

const readOne = async (
  db: QueryRunner,
  read: Query<Metadata>,
  ids: readonly string[],
  missing: ProblemCode,
): Promise<Metadata> => {
  const [row] = await db.query(read, ids);
  if (row === undefined) throw new ProblemError(missing);
  return row;
};

/** @throws account_not_found */
export const readAccountMetadata = (db: QueryRunner, accountId: string) =>
  readOne(db, ofAccount, [accountId], 'account_not_found');

/** @throws team_not_found */
export const readTeamMetadata = (db: QueryRunner, teamId: string) => readOne(db, ofTeam, [teamId], 'team_not_found');

/** @throws member_not_found also in a team that does not exist */
export const readMemberMetadata = (db: QueryRunner, teamId: string, accountId: string) =>
  readOne(db, ofMember, [teamId, accountId], 'member_not_found');

const publicOfAccount = query<{ public: JsonObject }>(
  'account_find_public_metadata',
  'select public_metadata as public from account where id = $1',
);

/** Returns what an account sees of its own metadata. */
export async function readOwnMetadata(db: QueryRunner, accountId: string) {
  const [row] = await db.query(publicOfAccount, [accountId]);
  if (row === undefined) throw new ProblemError('credential_invalid'); // deleted meanwhile
  return row;
}

const publicOfTeam = query<{ team: JsonObject; membership: JsonObject }>(
  'team_find_public_metadata',
  `select t.public_metadata as team, m.public_metadata as membership
   from membership m join team t on t.id = m.team_id where m.id = $1`,
);

/** Returns what a member sees of the team's metadata, and of that of the own membership. */
export async function readPublicTeamMetadata(db: QueryRunner, membershipId: string) {
  const [row] = await db.query(publicOfTeam, [membershipId]);
  if (row === undefined) throw new ProblemError('team_not_found'); // removed meanwhile
  return { team: { public: row.team }, membership: { public: row.membership } };
}

const publicOfMembers = query<{ accountId: string; public: JsonObject }>(
  'membership_list_public_metadata',
  `select account_id as "accountId", public_metadata as public from membership
   where team_id = $1 and account_id = any(array(select json_array_elements_text($2::json)))`,
);

/** Returns what members see of the metadata of other memberships. */
export const readPublicMembersMetadata = (db: QueryRunner, teamId: string, accountIds: readonly string[]) =>
  db.query(publicOfMembers, [teamId, JSON.stringify(accountIds)]);
