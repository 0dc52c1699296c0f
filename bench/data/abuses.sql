-- Of `--large`. What is large to work on: a client with 100,000 grants, four teams with 10,000 members who each connected it to the team,
-- 400,000 teams of one name, and 3,000,000 expired sessions. Ids and hashes ascend, so that their indexes are built fast.
insert into account (id, email, first_name, last_name, email_verified_at, created_at, updated_at)
select 'acc_owner-' || n, format('owner-%s@example.com', n), 'Ada', 'Lovelace', now(), now(), now()
from generate_series(1, 16) n;

insert into account (id, email, first_name, last_name, email_verified_at, created_at, updated_at)
select 'acc_user-' || n, format('user-%s@example.com', n), 'Ada', 'Lovelace', now(), now(), now()
from generate_series(1, 100000) n;

insert into oauth_client (id, source, account_id, name, redirect_uris, created_at)
values ('client_large', 'account', 'acc_owner-1', 'Large', array['https://client.example/callback'], now()),
  ('client_team', 'operator', null, 'Team', array['https://client.example/callback'], now());

insert into oauth_grant (id, account_id, client_id, audience, scopes, resource, created_at, expires_at)
select 'grant_large-' || n, 'acc_user-' || n, 'client_large', 'personal', array['teams:read'], 'api', now(), now() + interval '90 days'
from generate_series(1, 100000) n;

insert into team (id, name, slug, created_at, updated_at)
select 'team_large-' || t, 'Large', 'large-' || t, now(), now() from generate_series(1, 4) t;

insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
select format('mem_large-%s-%s', t, n), 'team_large-' || t, case n when 0 then 'acc_owner-' || 1 + t else 'acc_user-' || n end,
  case n when 0 then 'owner' else 'member' end, now(), now()
from generate_series(1, 4) t, generate_series(0, 9999) n;

insert into oauth_grant (id, account_id, client_id, audience, team_id, scopes, resource, created_at, expires_at)
select format('grant_team-%s-%s', t, n), 'acc_user-' || n, 'client_team', 'team', 'team_large-' || t, array['teams:read'], 'api', now(),
  now() + interval '90 days'
from generate_series(1, 4) t, generate_series(1, 9999) n;

insert into oauth_token_family (id, account_id, client_id, team_id, resource, scopes, grant_id, created_at)
select replace(id, 'grant_', 'family_'), account_id, client_id, team_id, resource, scopes, id, created_at from oauth_grant
where id like 'grant\_large-%' or id like 'grant\_team-%';

insert into oauth_token (token_hash, kind, grant_id, family_id, scopes, payload, created_at, expires_at)
select decode(lpad((row_number() over ())::text, 64, '0'), 'hex'), kind, id, replace(id, 'grant_', 'family_'), scopes, '{}', now(), now() + interval '1 day'
from oauth_grant cross join unnest(array['access', 'refresh']) kind
where id like 'grant\_large-%' or id like 'grant\_team-%';

insert into team (id, name, slug, created_at, updated_at)
select 'team_core-' || n, 'Core', case n when 1 then 'core' else 'core-' || n end, now(), now() from generate_series(1, 400000) n;

insert into session (id, account_id, token_hash, authentication_type, created_at, expires_at, idle_expires_at)
select 'ses_' || lpad(n::text, 7, '0'), 'acc_user-' || (n % 100000 + 1), decode(lpad(n::text, 64, '0'), 'hex'), 'password', now() - interval '40 days',
  now() - interval '10 days' + n * interval '50 milliseconds', now() - interval '9 days'
from generate_series(1, 3000000) n;
