-- An account with 2,000 teams, which owns the first of them, with 10,000 members.
insert into account (id, email, first_name, last_name, email_verified_at, created_at, updated_at)
select 'acc_giant-' || n, format('giant-%s@example.com', n), 'Ada', 'Lovelace', now(), now(), now()
from generate_series(10001, 20000) n;

insert into team (id, name, slug, created_at, updated_at)
select 'team_giant-' || t, 'Giant ' || t, 'giant-' || t, now(), now()
from generate_series(1001, 3000) t;

insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
select format('mem_giant-1001-%s', n), 'team_giant-1001', 'acc_giant-' || n,
  case n when 10001 then 'owner' else 'member' end, now(), now()
from generate_series(10001, 20000) n;

insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
select format('mem_giant-%s-10001', t), 'team_giant-' || t, 'acc_giant-10001', 'owner', now(), now()
from generate_series(1002, 3000) t;
