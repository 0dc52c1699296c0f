-- 1,024 owners with three teams each, the first of which has 20 members. Everything is of one length, so that
-- all answers to one request are, too.
insert into account (id, email, first_name, last_name, email_verified_at, created_at, updated_at)
select format('acc_bench-%s-%s', o, n), format('u-%s-%s@example.com', o, n), format('Ada%s', n), 'Lovelace', now(), now(), now()
from generate_series(1001, 2024) o, generate_series(101, 120) n;

insert into team (id, name, slug, created_at, updated_at)
select format('team_bench-%s-%s', o, t), format('Team %s of %s', t, o), format('team-%s-%s', o, t), now(), now()
from generate_series(1001, 2024) o, generate_series(1, 3) t;

insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
select format('mem_bench-%s-%s-%s', o, t, n), format('team_bench-%s-%s', o, t), format('acc_bench-%s-%s', o, n),
  case n when 101 then 'owner' else 'member' end, now(), now()
from generate_series(1001, 2024) o, generate_series(1, 3) t, generate_series(101, 120) n
where t = 1 or n = 101;

create table bench.caller as
select account_id, team_id from membership where team_id like 'team_bench-%-1' and role_id = 'owner';
