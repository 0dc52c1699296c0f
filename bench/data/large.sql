-- A million accounts with a key each, 200,000 teams with 15 members each. Members are spread over all
-- accounts, so that no two neighbours in one table are neighbours in the next.
insert into account (id, email, first_name, last_name, email_verified_at, created_at, updated_at)
select 'acc_' || lpad(n::text, 26, '0'), format('u-%s@example.com', lpad(n::text, 7, '0')), 'Ada01', 'Lovelace', now(), now(), now()
from generate_series(0, 999999) n;

insert into team (id, name, slug, created_at, updated_at)
select 'team_' || lpad(t::text, 26, '0'), 'Team ' || lpad(t::text, 7, '0'), 'team-' || lpad(t::text, 7, '0'), now(), now()
from generate_series(0, 199999) t;

-- 7919 and 104729 share no factor with a million, so that nobody is twice in a team or owns two.
insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
select 'mem_' || lpad((t * 15 + j)::text, 26, '0'), 'team_' || lpad(t::text, 26, '0'),
  'acc_' || lpad(((t * 7919 + j * 104729) % 1000000)::text, 26, '0'),
  case j when 0 then 'owner' else 'member' end, now(), now()
from generate_series(0, 199999::bigint) t, generate_series(0, 14) j;

insert into api_key (id, account_id, name, scopes, key_prefix, last4, created_at)
select 'key_' || lpad(n::text, 26, '0'), 'acc_' || lpad(n::text, 26, '0'), 'A key', array['teams:read'], 'rst_pk_000000', '0000', now()
from generate_series(0, 999999) n;

insert into api_key_secret (secret_hash, api_key_id, created_at)
select sha256(convert_to(n::text, 'UTF8')), 'key_' || lpad(n::text, 26, '0'), now()
from generate_series(0, 999999) n;

-- The callers: a thousand owners with three teams, of whose own team five more accounts become members.
create table bench.caller as
select account_id, own_team as team_id
from (
  select account_id, max(team_id) filter (where role_id = 'owner') as own_team
  from membership
  group by account_id
  having count(*) = 3
) owners
where own_team is not null
order by sha256(convert_to(account_id, 'UTF8'))
limit 1024;

insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
select 'mem_' || lpad((3000000 + row_number() over ())::text, 26, '0'), team_id, account_id, 'member', now(), now()
from (
  select c.team_id, more.account_id, row_number() over (partition by c.team_id order by j) as place
  from bench.caller c
  cross join generate_series(15, 29) j
  cross join lateral (
    select 'acc_' || lpad(((right(c.team_id, 26)::bigint * 7919 + j * 104729) % 1000000)::text, 26, '0') as account_id
  ) more
  -- Nobody who calls gets into a fourth team.
  where more.account_id not in (select account_id from bench.caller)
) more
where place <= 5;
