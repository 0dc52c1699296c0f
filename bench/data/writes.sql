-- What the writes need: seats for invitations, and members who can be removed and inserted again.
insert into subscription (team_id, plan_id, status, "interval", addons)
select team_id, 'pro', 'active', 'month', '{"seats": 1000000}' from bench.caller
on conflict do nothing;

create table bench.removable as
select more.*
from bench.caller c
cross join lateral (
  select m.* from membership m where m.team_id = c.team_id and m.role_id = 'member' order by m.id limit 3
) more;
