import type { Principal } from '../../auth/principal.ts';
import { recordedCommand, runAndRecord } from '../../events/record.ts';
import type { Database } from '../../db/database.ts';
import { openSession } from '../../db/predicates.ts';
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

const activeSessions = query<SessionRow>(
  'active_sessions',
  `select id, created_at, expires_at, authentication_type, country, city, browser, os, device_type,
     last_used_at, last_address
   from session
   where account_id = $1 and ${openSession('session')}
   order by created_at desc, id desc`,
);

const revokeSession = recordedCommand<{ id: string }>(
  'revoke_session',
  `update session set revoked_at = now() where id = $1 and account_id = $2 and revoked_at is null returning id`,
  'session.ended',
);

export async function listMySessions(db: QueryRunner, principal: Principal) {
  const rows = await db.query(activeSessions, [principal.accountId]);
  return rows.map((row) => presentSession(row, principal));
}

/** Lists the sessions with their last use, which REST does not have. */
export async function listSessionsWithUse(db: QueryRunner, principal: Principal) {
  const rows = await db.query(activeSessions, [principal.accountId]);
  return rows.map((row) => ({
    ...presentSession(row, principal),
    lastUsedAt: isoOrNull(row.last_used_at),
    lastAddress: row.last_address,
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

/** Revokes a session of the account. An unknown id, or one of another account, is ignored (specification, section 4.5). */
export async function revokeMySession(db: Database, principal: Principal, sessionId: string): Promise<void> {
  const fields = { sessionId, reason: 'by the account' };
  await runAndRecord(db, revokeSession, [sessionId, principal.accountId], fields);
}
