import { query, type QueryRunner } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';

const DAYS = 90;

type UsageRow = { day: string | null; requests: string | null; address: string | null };

// One row without a day for a key without requests.
const usageOfKey = query<UsageRow>(
  'api_key_use_list',
  `select to_char(u.day, 'YYYY-MM-DD') as day, u.requests, u.address
   from api_key k
   left join api_key_use u on u.api_key_id = k.id and u.day > current_date - ${DAYS}
   where k.id = $1 and k.revoked_at is null
     and case when $3::text is null then k.account_id = $2 and k.team_id is null else k.team_id = $3 end
   order by u.day`,
);

const usageOfTeam = query<{ day: string; requests: string }>(
  'api_key_use_list_of_team',
  `select to_char(u.day, 'YYYY-MM-DD') as day, sum(u.requests)::bigint as requests
   from api_key k
   join api_key_use u on u.api_key_id = k.id and u.day > current_date - ${DAYS}
   where k.team_id = $1
   group by u.day
   order by u.day`,
);

/** Returns the requests of a key by day. @throws api_key_not_found unless it is the account's, or the team's */
export async function readKeyUsage(db: QueryRunner, accountId: string, keyId: string, teamId: string | undefined) {
  const rows = await db.query(usageOfKey, [keyId, accountId, teamId ?? null]);
  if (rows.length === 0) throw new ProblemError('api_key_not_found');
  const days = rows.flatMap(({ day, requests }) => (day === null ? [] : [{ day, requests: Number(requests) }]));
  return { days, lastAddress: rows.findLast(({ address }) => address !== null)?.address ?? null };
}

/** Returns the requests of all keys of a team by day, also of those that were revoked since. */
export async function readTeamUsage(db: QueryRunner, teamId: string) {
  const rows = await db.query(usageOfTeam, [teamId]);
  return rows.map(({ day, requests }) => ({ day, requests: Number(requests) }));
}
