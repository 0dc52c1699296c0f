import { query } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';

type Owned = { number: number };

const ownedTeams = query<Owned>(
  'team_list_owned',
  `select count(*)::int as number from membership where account_id = $1 and role_id = 'owner'`,
);

/** Counts the teams that an account owns, for `requireTeamQuota`. Run it with the account locked. */
export const ownedTeamsStep = (accountId: string) => [ownedTeams, [accountId]] as const;

/** Requires that the account can own another team. @throws team_limit_reached */
export function requireTeamQuota([owned]: readonly Owned[], limit: number): void {
  const number = owned?.number ?? 0;
  if (number >= limit)
    throw new ProblemError('team_limit_reached', `This account owns ${number} teams; its limit is ${limit}.`);
}
