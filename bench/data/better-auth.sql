-- 1,024 owners with three organizations each, the first of which has 20 members; the same shape as small.sql.
insert into "user" (id, name, email, "emailVerified", "createdAt", "updatedAt")
select format('user-%s-%s', o, n), format('Ada%s Lovelace', n), format('u-%s-%s@example.com', o, n), true, now(), now()
from generate_series(1001, 2024) o, generate_series(101, 120) n;

insert into organization (id, name, slug, "createdAt")
select format('org-%s-%s', o, t), format('Team %s of %s', t, o), format('team-%s-%s', o, t), now()
from generate_series(1001, 2024) o, generate_series(1, 3) t;

insert into member (id, "organizationId", "userId", role, "createdAt")
select format('member-%s-%s-%s', o, t, n), format('org-%s-%s', o, t), format('user-%s-%s', o, n),
  case n when 101 then 'owner' else 'member' end, now()
from generate_series(1001, 2024) o, generate_series(1, 3) t, generate_series(101, 120) n
where t = 1 or n = 101;

analyze;
