import { hash, randomBytes, randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createGuardedWrites } from './guarded-writes.ts';

// What a good engineer writes for these requests alone: one statement, which proves the caller and
// fetches the data, and one Redis call, in flight together for reads. Nothing is validated, nothing has a type.
// With GUARANTEES=equal, its writes have those of Roster's.

const { DATABASE_URL, REDIS_URL, PORT, RATE_LIMIT, LOG_LEVEL, GUARANTEES } = process.env;
const WINDOW_SECONDS = 60;
const SECRET_LENGTH = 56;

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

// The email is a row for a worker, as in Roster. Nobody here sends it.
const invite = {
  name: 'invite',
  text: `with invited as (
      insert into invitation (id, created_at, team_id, email, role_id, invited_by_id, expires_at)
      select $4, now(), t.id, $3, 'member', c.account_id, now() + interval '7 days'
      from (${CALLER}) c, membership m, role r, team t
      where t.id = $2 and m.account_id = c.account_id and m.team_id = t.id and (c.team_id is null or c.team_id = t.id)
        and ${IS_MEMBER} and r.id = m.role_id
        and 'invites:write' = any (c.scopes) and 'invite_members' = any (r.permissions)
        and (select count(*) from membership o where o.team_id = t.id and o.is_active) < 1000000
      on conflict (team_id, lower(email)) where accepted_at is null do update set expires_at = excluded.expires_at
      returning id),
    linked as (insert into invitation_link (token_hash, invitation_id, created_at) select $5, id, now() from invited)
    insert into bench_outbox (invitation_id, token) select id, $6 from invited returning true as success`,
};

const createKey = {
  name: 'create_key',
  text: `with made as (
      insert into api_key (id, created_at, account_id, name, scopes, key_prefix, last4)
      select $2, now(), c.account_id, $3, $4::text[], $5, $6 from (${CALLER}) c
      where c.team_id is null and 'api-keys:write' = any (c.scopes) and $4::text[] <@ c.scopes
        and (select count(*) from api_key o where o.account_id = c.account_id and o.revoked_at is null) < 1000
      returning *),
    hashed as (insert into api_key_secret (secret_hash, api_key_id, created_at) select $7, id, now() from made)
    select id, name, key_prefix as "keyPrefix", last4, scopes, team_id as "teamId", created_at as "createdAt",
      null as "lastUsedAt", expires_at as "expiresAt" from made`,
};

// With the key and the consents of the member for the team, which end too.
const remove = {
  name: 'remove',
  text: `with removed as (
      delete from membership o using (${CALLER}) c, membership m, role r
      where o.team_id = $2 and o.account_id = $3 and o.role_id <> 'owner'
        and m.account_id = c.account_id and m.team_id = o.team_id and (c.team_id is null or c.team_id = o.team_id)
        and ${IS_MEMBER} and r.id = m.role_id
        and 'members:write' = any (c.scopes) and 'remove_members' = any (r.permissions)
      returning o.team_id, o.account_id),
    offers as (delete from ownership_transfer o using removed r where o.team_id = r.team_id and o.nominee_id = r.account_id),
    grants as (update oauth_grant g set revoked_at = now() from removed r
      where g.team_id = r.team_id and g.account_id = r.account_id and g.revoked_at is null),
    keys as (update api_key k set revoked_at = now() from removed r
      where k.team_id = r.team_id and k.account_id = r.account_id and k.revoked_at is null)
    select true as success from removed`,
};

await pool.query('create table if not exists bench_outbox (invitation_id text, token text)');
const guarded =
  GUARANTEES === 'equal' ? await createGuardedWrites(pool, [rename, invite, createKey, remove]) : undefined;

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

/** @param recorded what the event of a guarded write is about */
const write = async (req, reply, statement, values, recorded) => {
  const secretHash = secretHashOf(req);
  if (guarded !== undefined) {
    const [caller] = await Promise.all([guarded.findCaller(secretHash), charge(reply, secretHash)]);
    if (!caller) refuse(401);
    return (await guarded.write(statement, caller, [secretHash, ...values], recorded, req)) ?? refuse(404);
  }
  // In turn, because what is refused must not write.
  await charge(reply, secretHash);
  const { rows } = await pool.query({ ...statement, values: [secretHash, ...values] });
  return rows[0] ?? refuse(404);
};
app.patch('/api/v1/teams/:teamId', (req, reply) => {
  const { teamId } = req.params;
  return write(req, reply, rename, [teamId, req.body.name], { teamId });
});
app.delete('/api/v1/teams/:teamId/members/:userId', (req, reply) => {
  const { teamId, userId } = req.params;
  return write(req, reply, remove, [teamId, userId], { teamId, accountId: userId });
});

const newId = (kind) => `${kind}_${randomUUID().replaceAll('-', '').slice(0, 26)}`;

app.post('/api/v1/teams/:teamId/invitations', (req, reply) => {
  const token = `rst_in_${randomBytes(32).toString('base64url')}`;
  const { teamId } = req.params;
  const id = newId('invt');
  const values = [teamId, req.body.email, id, hash('sha256', token, 'buffer'), token];
  return write(req, reply, invite, values, { teamId, targetId: id });
});

app.post('/api/v1/api-keys', async (req, reply) => {
  const secret = `rst_pk_${randomBytes(40).toString('base64url')}`.slice(0, SECRET_LENGTH);
  const { name, scopes } = req.body;
  const id = newId('key');
  const values = [id, name, scopes, secret.slice(0, 13), secret.slice(-4), hash('sha256', secret, 'buffer')];
  const key = await write(req, reply, createKey, values, { targetId: id, details: { name, scopes } });
  // From a function it is text, in the format of PostgreSQL.
  key.createdAt = new Date(key.createdAt).toISOString();
  reply.status(201);
  return { key, secret };
});

app.get('/readyz', () => ({}));
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
