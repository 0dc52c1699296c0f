-- What is large to delete: a client with 100,000 grants, a team with 10,000 members who each connected it to the team,
-- and an account among three million sessions.
insert into account (id, email, first_name, last_name, email_verified_at, created_at, updated_at)
select 'acc_owner-' || n, format('owner-%s@example.com', n), 'Ada', 'Lovelace', now(), now(), now()
from generate_series(1, 3) n;

insert into account (id, email, first_name, last_name, email_verified_at, created_at, updated_at)
select 'acc_user-' || n, format('user-%s@example.com', n), 'Ada', 'Lovelace', now(), now(), now()
from generate_series(1, 100000) n;

insert into oauth_client (id, source, account_id, name, redirect_uris, created_at)
values ('client_large', 'account', 'acc_owner-1', 'Large', array['https://client.example/callback'], now()),
  ('client_team', 'operator', null, 'Team', array['https://client.example/callback'], now());

insert into oauth_grant (id, account_id, client_id, audience, scopes, resource, created_at, expires_at)
select 'grant_large-' || n, 'acc_user-' || n, 'client_large', 'personal', array['teams:read'], 'api', now(), now() + interval '90 days'
from generate_series(1, 100000) n;

insert into team (id, name, slug, created_at, updated_at) values ('team_large', 'Large', 'large', now(), now());

insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
select 'mem_large-' || n, 'team_large', case n when 0 then 'acc_owner-2' else 'acc_user-' || n end,
  case n when 0 then 'owner' else 'member' end, now(), now()
from generate_series(0, 9999) n;

insert into oauth_grant (id, account_id, client_id, audience, team_id, scopes, resource, created_at, expires_at)
select 'grant_team-' || n, 'acc_user-' || n, 'client_team', 'team', 'team_large', array['teams:read'], 'api', now(), now() + interval '90 days'
from generate_series(1, 9999) n;

insert into oauth_token_family (id, account_id, client_id, team_id, resource, scopes, grant_id, created_at)
select replace(id, 'grant_', 'family_'), account_id, client_id, team_id, resource, scopes, id, created_at from oauth_grant;

insert into oauth_token (token_hash, kind, grant_id, family_id, scopes, payload, created_at, expires_at)
select sha256(convert_to(kind || id, 'UTF8')), kind, id, replace(id, 'grant_', 'family_'), scopes, '{}', now(), now() + interval '1 day'
from oauth_grant cross join unnest(array['access', 'refresh']) kind;

insert into session (id, account_id, token_hash, authentication_type, created_at, expires_at, idle_expires_at, revoked_at)
select 'ses_' || n, 'acc_user-' || (n % 100000 + 1), sha256(convert_to(n::text, 'UTF8')), 'password', now(),
  now() + interval '30 days', now() + interval '7 days', case when n % 3 = 0 then now() end
from generate_series(1, 3000000) n;

vacuum (freeze, analyze);
