-- Ten million accounts with a key each, three million teams with ten members each, and twenty million events of the
-- twelve months before this one. {scale} divides all of them. Members are spread over all accounts, so that no two
-- neighbours in one table are neighbours in the next.
insert into account (id, email, first_name, last_name, email_verified_at, created_at, updated_at)
select 'acc_' || lpad(n::text, 26, '0'), format('u-%s@example.com', lpad(n::text, 8, '0')), 'Ada01', 'Lovelace', now(), now(), now()
from generate_series(0, 10000000 / {scale} - 1) n;

insert into team (id, name, slug, created_at, updated_at)
select 'team_' || lpad(t::text, 26, '0'), 'Team ' || lpad(t::text, 7, '0'), 'team-' || lpad(t::text, 7, '0'), now(), now()
from generate_series(0, 3000000 / {scale} - 1) t;

-- Both factors are primes, so that nobody is twice in a team or owns two.
insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
select 'mem_' || lpad((t * 10 + j)::text, 26, '0'), 'team_' || lpad(t::text, 26, '0'),
  'acc_' || lpad(((t * 7919 + j * 104729) % (10000000 / {scale}))::text, 26, '0'),
  case j when 0 then 'owner' else 'member' end, now(), now()
from generate_series(0, 3000000::bigint / {scale} - 1) t, generate_series(0, 9) j;

insert into api_key (id, account_id, name, scopes, key_prefix, last4, created_at)
select 'key_' || lpad(n::text, 26, '0'), 'acc_' || lpad(n::text, 26, '0'), 'A key', array['teams:read'], 'rst_pk_000000', '0000', now()
from generate_series(0, 10000000 / {scale} - 1) n;

insert into api_key_secret (secret_hash, api_key_id, created_at)
select sha256(convert_to(n::text, 'UTF8')), 'key_' || lpad(n::text, 26, '0'), now()
from generate_series(0, 10000000 / {scale} - 1) n;

-- Ids begin with ten digits of their time; the other sixteen are a counter here.
insert into audit_event (id, occurred_at, event, actor_kind, actor_id, credential_id, team_id, account_id, address, request_id, details, xid)
select 'evt_'
    || substr('0123456789abcdefghijklmnopqrstuv', ((ms >> 45) & 31)::int + 1, 1)
    || substr('0123456789abcdefghijklmnopqrstuv', ((ms >> 40) & 31)::int + 1, 1)
    || substr('0123456789abcdefghijklmnopqrstuv', ((ms >> 35) & 31)::int + 1, 1)
    || substr('0123456789abcdefghijklmnopqrstuv', ((ms >> 30) & 31)::int + 1, 1)
    || substr('0123456789abcdefghijklmnopqrstuv', ((ms >> 25) & 31)::int + 1, 1)
    || substr('0123456789abcdefghijklmnopqrstuv', ((ms >> 20) & 31)::int + 1, 1)
    || substr('0123456789abcdefghijklmnopqrstuv', ((ms >> 15) & 31)::int + 1, 1)
    || substr('0123456789abcdefghijklmnopqrstuv', ((ms >> 10) & 31)::int + 1, 1)
    || substr('0123456789abcdefghijklmnopqrstuv', ((ms >> 5) & 31)::int + 1, 1)
    || substr('0123456789abcdefghijklmnopqrstuv', ((ms >> 0) & 31)::int + 1, 1)
    || lpad(n::text, 16, '0'),
  to_timestamp(ms / 1000.0), 'team.renamed', 'api_key', 'acc_' || lpad((n % (10000000 / {scale}))::text, 26, '0'),
  'key_' || lpad((n % (10000000 / {scale}))::text, 26, '0'), 'team_' || lpad((n * 7919 % (3000000 / {scale}))::text, 26, '0'),
  'acc_' || lpad((n % (10000000 / {scale}))::text, 26, '0'), '203.0.113.7', gen_random_uuid()::text, '{}', null
from (
  select n, (extract(epoch from since) * 1000 + n * span / (20000000 / {scale}))::bigint as ms
  from (select date_trunc('month', now(), 'UTC') - interval '12 months' as since) months
  cross join lateral (select extract(epoch from date_trunc('month', now(), 'UTC') - since) * 1000 as span) spans
  cross join generate_series(0, 20000000::bigint / {scale} - 1) n
) events;

insert into audit_link (sequence, event_id, hash)
select row_number() over (order by id), id, sha256(convert_to(id, 'UTF8')) from audit_event;

-- The callers: a thousand owners with three teams, of whose own team ten more accounts become members.
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
select 'mem_' || lpad((30000000 + row_number() over ())::text, 26, '0'), team_id, account_id, 'member', now(), now()
from (
  select c.team_id, more.account_id, row_number() over (partition by c.team_id order by j) as place
  from bench.caller c
  cross join generate_series(10, 39) j
  cross join lateral (
    select 'acc_' || lpad(((right(c.team_id, 26)::bigint * 7919 + j * 104729) % (10000000 / {scale}))::text, 26, '0') as account_id
  ) more
  -- Nobody who calls gets into a fourth team.
  where more.account_id not in (select account_id from bench.caller)
) more
where place <= 10;
