import Provider, { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { activeMembership, namedTeam } from '../db/predicates.ts';
import { command, query, type QueryRunner } from '../db/query.ts';
import type { CommandRunner } from '../db/pipeline/query-runner.ts';
import { requireTeamReference } from './first-party.ts';

/** `team_id` is null unless the account is an active member of the team that is wanted. */
const findTeam = query<{ wanted: string | null; team_id: string | null }>(
  'oauth_token_family_find_active_team',
  `select wanted.team as wanted, m.team_id
   from oauth_token_family f
   cross join lateral (select nullif(coalesce($2, f.active_team_id), '') as team) wanted
   left join membership m on m.account_id = f.account_id and m.team_id = ${namedTeam('wanted.team')}
     and ${activeMembership('m')}
   where f.id = $1 and f.client_id = $3`,
);

const setTeam = command<{ id: string }>(
  'oauth_token_family_update_active_team',
  `update oauth_token_family set active_team_id = $2
   where id = $1 and active_team_id is distinct from $2 returning id`,
);

/** Creates `invalid_grant` with a description, which oidc-provider otherwise does not send. */
const teamLeft = (more: string) => () => {
  const description = `the account is no longer an active member of the team${more}`;
  return Object.assign(new errors.InvalidGrant(description), { error_description: description });
};
const createTeamLeftAtExchange = teamLeft('');
const createTeamLeftAtRefresh = teamLeft('; refresh with another `team`, or an empty one');

/** The active team of the tokens that a request gets. */
const teams = new WeakMap<object, string | null>();

/** Returns the team that a token request names: '' for none, undefined for that of before. */
export function getRequestedTeam(ctx: KoaContextWithOIDC | undefined): string | undefined {
  const { team } = (ctx?.oidc as { body?: Record<string, unknown> } | undefined)?.body ?? {}; // the parsed form
  if (team === undefined) return undefined;
  if (typeof team !== 'string') throw new errors.InvalidRequest('team must not be provided twice');
  requireTeamReference(team);
  return team;
}

/**
 * Finds the active team of the tokens that a token request gets for a family of a first-party client, before it consumes
 * anything: that of the family, or at a refresh the one that the request names.
 * @throws access_denied if the account is no active member of the team that is named, invalid_grant if it is no longer one
 *   of the family's
 */
export async function prepareActiveTeam(db: QueryRunner, familyId: string, isRefresh: boolean): Promise<void> {
  const { ctx } = Provider;
  if (ctx?.oidc.client === undefined) return;
  const requested = isRefresh ? getRequestedTeam(ctx) : undefined;
  const [row] = await db.query(findTeam, [familyId, requested ?? null, ctx.oidc.client.clientId]);
  if (row === undefined) return;
  if (row.wanted !== null && row.team_id === null) {
    if (requested !== undefined)
      throw new errors.AccessDenied('the account is no active member of the team that `team` names');
    throw isRefresh ? createTeamLeftAtRefresh() : createTeamLeftAtExchange();
  }
  teams.set(ctx, row.team_id);
}

/** Returns the active team that `prepareActiveTeam` found for the present request. */
export const getActiveTeam = (): string | null =>
  Provider.ctx === undefined ? null : (teams.get(Provider.ctx) ?? null);

/** Makes the team of a refresh that named one that of the family, for the next refreshes that name none. */
export async function keepActiveTeam(db: CommandRunner, familyId: string): Promise<void> {
  if (Provider.ctx?.oidc.entities.RefreshToken === undefined || getRequestedTeam(Provider.ctx) === undefined) return;
  await db.run(setTeam, [familyId, getActiveTeam()]);
}
