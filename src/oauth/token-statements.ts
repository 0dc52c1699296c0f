import { command, query } from '../db/query.ts';
import type { Scope } from '../entities/index.ts';
import { activeMembership, enforceableScopes, liveFamily } from '../db/predicates.ts';
import { recordedCommand } from '../events/record.ts';
import { secondsUntil, type Payload } from './payload.ts';

/** Stores the code of a consent, unless the consent was withdrawn. */
export const saveCode = command<{ kind: string }>(
  'oauth_token_insert_code',
  `insert into oauth_token (token_hash, kind, family_id, scopes, payload, created_at, expires_at)
   select $1, 'code', f.id, $3, $4, now(), now() + make_interval(secs => $5)
   from oauth_token_family f
   where f.id = $2 and f.grant_id is null and ${liveFamily('f', 'f')}
   for share of f
   returning kind`,
);

// `$8` is the active team of a first-party token. Waits for transactions that revoke or reduce the grant or revoke the family, and sees their result. The scopes are
// those that both the parent token and the grant still have.
const SAVE = `insert into oauth_token
     (token_hash, kind, grant_id, family_id, scopes, payload, thumbprint, active_team_id, created_at, expires_at)
   select $1, $2, g.id, f.id,
     array(select s from unnest($4::text[]) with ordinality u(s, i)
           where s = any(p.scopes) and s = any(${enforceableScopes('f', 'g')}) order by i),
     $5::jsonb || jsonb_build_object('grantId', g.id), $6, $8, now(), now() + make_interval(secs => $7)
   from oauth_token p
   join oauth_token_family f on f.id = p.family_id
   join oauth_grant g on g.id = f.grant_id
   where p.token_hash = $3 and g.revoked_at is null and g.expires_at > now()
     and ${liveFamily('f', 'g')}
     and ($8::text is null or exists (
       select from membership m
       where m.account_id = g.account_id and m.team_id = $8 and ${activeMembership('m')}))
   for share of g, f
   returning kind`;

export const saveRefreshToken = command<{ kind: string }>('oauth_token_insert_refresh', SAVE);
export const saveAccessToken = recordedCommand<{ kind: string }>(
  'oauth_token_insert_access',
  SAVE,
  'oauth_token.issued',
);

export type TokenRow = {
  payload: Payload;
  seconds_left: number;
  is_consumed: boolean;
  token_scopes: Scope[];
  grant_scopes: Scope[];
  team_id: string | null;
  family_id: string | null;
  grant_id: string | null;
  session_id: string | null;
  has_openid: boolean;
};

export const findToken = query<TokenRow>(
  'oauth_token_find',
  `select t.payload, ${secondsUntil('least(t.expires_at, g.expires_at)')} as seconds_left,
     t.consumed_at is not null as is_consumed, t.scopes as token_scopes, coalesce(case when g.id is not null then ${enforceableScopes('f', 'g')} end, f.scopes) as grant_scopes,
     coalesce(g.team_id, f.team_id) as team_id, t.family_id, t.grant_id, f.session_id,
     f.openid_scopes is not null as has_openid
   from oauth_token t
   left join oauth_grant g on g.id = t.grant_id
   left join oauth_token_family f on f.id = t.family_id
   where t.token_hash = $1 and t.kind = $2`,
);

/**
 * Gives the tokens of a grant a family, if a replica of the version before issued them without one. All of them
 * descend from the same code.
 */
export const adoptTokens = command<{ family_id: string }>(
  'oauth_token_update_family',
  `with family as (
     insert into oauth_token_family (id, created_at, account_id, client_id, team_id, resource, scopes, grant_id)
     select replace(id, 'grant_', 'family_'), created_at, account_id, client_id, team_id, coalesce(resource, 'api'),
       scopes, id
     from oauth_grant where id = $1
     on conflict (id) do nothing)
   update oauth_token set family_id = replace(grant_id, 'grant_', 'family_')
   where grant_id = $1 and family_id is null
   returning family_id`,
);

export const consumeRefreshToken = command<{ kind: string }>(
  'oauth_token_consume_refresh',
  `update oauth_token set consumed_at = now()
   where token_hash = $1 and kind = 'refresh' and consumed_at is null
   returning kind`,
);

/** Finds the family, grant, account and client of a token or code. */
export const findOwner = query<{
  family_id: string | null;
  grant_id: string | null;
  account_id: string;
  client_id: string;
}>(
  'oauth_token_find_owner',
  `select t.family_id, t.grant_id, coalesce(g.account_id, f.account_id) as account_id,
     coalesce(g.client_id, f.client_id) as client_id
   from oauth_token t
   left join oauth_grant g on g.id = t.grant_id
   left join oauth_token_family f on f.id = t.family_id
   where t.token_hash = $1`,
);

export const deleteToken = recordedCommand<{ kind: string }>(
  'oauth_token_delete',
  'delete from oauth_token where token_hash = $1 returning kind',
  'oauth_token.revoked',
);
