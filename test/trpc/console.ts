import type { Api } from '../support/api.ts';
import { problemOf, signedIn, type Visitor } from '../support/browser.ts';
import type { AKey } from '../support/factories.ts';

export type Trpc = Visitor['trpc'];

/** Calls as somebody who is signed in. */
export const as = async (api: Api, account: { id: string }): Promise<Trpc> => (await signedIn(api, account)).trpc;

/** Calls with a bearer credential. */
export function withKey(api: Pick<Api, 'visitor'>, { secret }: Pick<AKey, 'secret'>): Trpc {
  const { trpc, headers } = api.visitor();
  headers['authorization'] = `Bearer ${secret}`;
  return trpc;
}

/** `done`, or the code of the problem that a call is refused with. */
export const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    async (error: unknown) => (await problemOf(Promise.reject(error as Error))).code, // what tRPC rejects with
  );

/** How often each outcome came. */
export async function tally(calls: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.all(calls.map(outcomeOf))) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** An invitation with the token of its mail. */
export async function anInvitationWithLink(
  api: Api,
  team: { id: string },
  fields: Parameters<Api['anInvitation']>[1] = {},
) {
  const invitation = await api.anInvitation(team, fields);
  return { ...invitation, token: await aLink(api, invitation) };
}

/** One more link of an invitation. */
export async function aLink(api: Api, invitation: { id: string }): Promise<string> {
  const { secret, hash } = api.services.tokens.generate('invitation');
  await api.rows('insert into invitation_link (token_hash, invitation_id, created_at) values ($1, $2, now())', [
    hash,
    invitation.id,
  ]);
  return secret;
}

type MembershipRow = { account_id: string; role_id: string; is_active: boolean; expires_at: string | null };

export const memberships = (api: Api, team: { id: string }) =>
  api.rows<MembershipRow>(
    'select account_id, role_id, is_active, expires_at from membership where team_id = $1 order by id',
    [team.id],
  );

export const membershipOf = async (api: Api, team: { id: string }, account: { id: string }) =>
  (await memberships(api, team)).find(({ account_id }) => account_id === account.id);

/** The accounts that own the team: there must be one. */
export const ownersOf = async (api: Api, team: { id: string }): Promise<string[]> =>
  (await memberships(api, team)).filter(({ role_id }) => role_id === 'owner').map(({ account_id }) => account_id);

/** Everything about a team that a refused call must leave as it was. */
export const stateOf = (api: Pick<Api, 'rows'>, team: { id: string }) =>
  api.rows(
    `select
       (select to_jsonb(t) from team t where t.id = $1) as team,
       (select jsonb_agg(to_jsonb(m) order by m.id) from membership m where m.team_id = $1) as memberships,
       (select jsonb_agg(to_jsonb(r) order by r.id) from role r where r.team_id = $1) as roles,
       (select jsonb_agg(to_jsonb(i) order by i.id) from invitation i where i.team_id = $1) as invitations,
       (select jsonb_agg(to_jsonb(l) order by l.token_hash) from invitation_link l join invitation i on i.id = l.invitation_id where i.team_id = $1) as links,
       (select jsonb_agg(to_jsonb(k) - 'last_used_at' order by k.id) from api_key k where k.team_id = $1) as keys,
       (select jsonb_agg(to_jsonb(o)) from ownership_transfer o where o.team_id = $1) as offers,
       (select count(*)::int from graphile_worker._private_jobs j where j.payload::text like '%' || $1 || '%') as jobs`,
    [team.id],
  );

export const MINUTES = 60_000;
export const inMinutes = (minutes: number): Date => new Date(Date.now() + minutes * MINUTES);
