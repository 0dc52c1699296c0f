import type { Principal } from '../../auth/principal.ts';
import { listProofs, proofsOf } from '../../auth/session-proofs.ts';
import { liveGrant, openSession } from '../../db/predicates.ts';
import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';

type SessionRow = {
  id: string;
  created_at: string;
  expires_at: string;
  authentication_type: string | null;
  country: string | null;
  city: string | null;
  browser: string | null;
  os: string | null;
  device_type: string | null;
  last_used_at: string | null;
  last_address: string | null;
};

type SessionWithUseRow = SessionRow & { proofs: Record<string, string>; applications: string[] };

const COLUMNS = `id, created_at, expires_at, authentication_type, country, city, browser, os, device_type, last_used_at,
     last_address`;
const ACTIVE = `from session
   where account_id = $1 and ${openSession('session')}
   order by created_at desc, id desc`;

const activeSessions = query<SessionRow>('session_list_active', `select ${COLUMNS} ${ACTIVE}`);

const activeSessionsWithUse = query<SessionWithUseRow>(
  'session_list_active_with_use',
  `select ${COLUMNS}, ${proofsOf('session')} as proofs,
     array(select distinct c.name from oauth_token_family f
       join oauth_grant g on g.id = f.grant_id
       join oauth_client c on c.id = g.client_id
       where f.session_id = session.id and c.is_first_party and ${liveGrant('g')} order by c.name) as applications
   ${ACTIVE}`,
);

export async function listMySessions(db: QueryRunner, principal: Principal) {
  const rows = await db.query(activeSessions, [principal.accountId]);
  return rows.map((row) => presentSession(row, principal));
}

/** Lists the sessions with their last use and what they prove, which REST does not have. */
export async function listSessionsWithUse(db: QueryRunner, principal: Principal) {
  const rows = await db.query(activeSessionsWithUse, [principal.accountId]);
  return rows.map((row) => ({
    ...presentSession(row, principal),
    lastUsedAt: isoOrNull(row.last_used_at),
    lastAddress: row.last_address,
    methods: listProofs(row.proofs),
    applications: row.applications,
  }));
}

const presentSession = (row: SessionRow, principal: Principal) => ({
  id: row.id,
  createdAt: iso(row.created_at),
  expiresAt: iso(row.expires_at),
  isCurrentSession: row.id === principal.credentialId,
  authenticationType: row.authentication_type,
  country: row.country,
  city: row.city,
  browser: row.browser,
  os: row.os,
  deviceType: row.device_type,
});
