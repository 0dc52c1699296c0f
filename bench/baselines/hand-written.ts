import { hash } from 'node:crypto';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
import pg from 'pg';

// What a good engineer writes for these four requests alone: one statement, which proves the caller and
// fetches the data, and one Redis call, in flight together for reads. Nothing is validated, nothing has a type.

const { DATABASE_URL, REDIS_URL, PORT, RATE_LIMIT, LOG_LEVEL } = process.env;
const WINDOW_SECONDS = 60;

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
const redis = new Redis(REDIS_URL, { enableAutoPipelining: true });
redis.defineCommand('charge', {
  numberOfKeys: 1,
  lua: `local used = redis.call('incr', KEYS[1])
        if used == 1 then redis.call('expire', KEYS[1], ARGV[1]) end
        return {used, redis.call('ttl', KEYS[1])}`,
});

const CALLER = `
  select k.id, k.account_id, k.team_id, k.scopes
  from api_key_secret s
  join api_key k on k.id = s.api_key_id
  join account a on a.id = k.account_id
  where s.secret_hash = $1 and (s.expires_at is null or s.expires_at > now())
    and k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) and a.disabled_at is null`;
const IS_MEMBER = 'm.is_active and (m.expires_at is null or m.expires_at > now())';
const TEAM = `t.id, t.name, t.slug, t.description, t.avatar_url as "avatarUrl",
  case when r.id is not null then json_build_object('id', r.id, 'name', r.name) end as role`;

const credential = { name: 'credential', text: `select c.team_id, c.scopes from (${CALLER}) c` };

// One row at least for a caller, with nulls where they have no team.
const teams = {
  name: 'teams',
  text: `select ${TEAM}, 'teams:read' = any (c.scopes) as allowed
    from (${CALLER}) c
    left join membership m on m.account_id = c.account_id and (c.team_id is null or c.team_id = m.team_id) and ${IS_MEMBER}
    left join team t on t.id = m.team_id
    left join role r on r.id = m.role_id
    order by t.name, t.id`,
};

const members = {
  name: 'members',
  text: `select 'members:read' = any (c.scopes) and 'access_dashboard' = any (own.permissions) as allowed,
      m.id as "membershipId", a.id as "userId", a.email, a.first_name as "firstName", a.last_name as "lastName", a.avatar,
      r.id as "roleId", r.name as "roleName", r.team_id is null as "isSystemRole", ${IS_MEMBER} as "isActive",
      m.joined_at as "joinedAt"
    from (${CALLER}) c
    join (
      select m.account_id, m.team_id, r.permissions from membership m join role r on r.id = m.role_id where ${IS_MEMBER}
    ) own on own.account_id = c.account_id and own.team_id = $2 and (c.team_id is null or c.team_id = $2)
    join membership m on m.team_id = own.team_id
    join account a on a.id = m.account_id
    join role r on r.id = m.role_id
    order by m.joined_at, m.id`,
};

const rename = {
  name: 'rename',
  text: `update team t set name = $3, updated_at = now()
    from (${CALLER}) c, membership m, role r
    where t.id = $2 and m.account_id = c.account_id and m.team_id = t.id and (c.team_id is null or c.team_id = t.id)
      and ${IS_MEMBER} and r.id = m.role_id
      and 'teams:write' = any (c.scopes) and 'edit_team_settings' = any (r.permissions)
    returning ${TEAM}`,
};

const app = Fastify({ logger: { level: LOG_LEVEL }, disableRequestLogging: true });
app.addHook('onResponse', async (req, reply) => {
  const { routeOptions, id } = req;
  req.log.info({ route: routeOptions.url, status: reply.statusCode, durationMs: reply.elapsedTime, id }, 'request');
});

const secretHashOf = (req) => hash('sha256', req.headers.authorization?.slice(7) ?? '', 'buffer');
const charge = async (reply, secretHash) => {
  const [used, resetSeconds] = await redis.charge(`rate:${secretHash.toString('base64url')}`, WINDOW_SECONDS);
  reply.headers({
    'RateLimit-Limit': RATE_LIMIT,
    'RateLimit-Remaining': Math.max(RATE_LIMIT - used, 0),
    'RateLimit-Reset': resetSeconds,
  });
  if (used > RATE_LIMIT) refuse(429);
};
const read = async (req, reply, statement, ...values) => {
  const secretHash = secretHashOf(req);
  const query = { ...statement, values: [secretHash, ...values] };
  const [{ rows }] = await Promise.all([pool.query(query), charge(reply, secretHash)]);
  return rows;
};
const refuse = (statusCode) => {
  throw Object.assign(new Error('Refused'), { statusCode });
};

app.get('/api/v1/credential', async (req, reply) => {
  const [row] = await read(req, reply, credential);
  if (!row) refuse(401);
  const team = row.team_id === null ? null : { id: row.team_id };
  return { kind: 'api-key', audience: team ? 'team' : 'personal', team, scopes: row.scopes };
});

app.get('/api/v1/teams', async (req, reply) => {
  const rows = await read(req, reply, teams);
  if (!rows[0]) refuse(401);
  if (!rows[0].allowed) refuse(403);
  for (const row of rows) delete row.allowed;
  return rows[0].id === null ? [] : rows;
});

app.get('/api/v1/teams/:teamId/members', async (req, reply) => {
  const rows = await read(req, reply, members, req.params.teamId);
  if (!rows[0]) refuse(404);
  if (!rows[0].allowed) refuse(403);
  for (const row of rows) delete row.allowed;
  return rows;
});

app.patch('/api/v1/teams/:teamId', async (req, reply) => {
  const secretHash = secretHashOf(req);
  // In turn, because what is refused must not write.
  await charge(reply, secretHash);
  const { rows } = await pool.query({ ...rename, values: [secretHash, req.params.teamId, req.body.name] });
  return rows[0] ?? refuse(404);
});

app.get('/readyz', () => ({}));
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
