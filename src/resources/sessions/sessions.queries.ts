import type { Principal } from '../../auth/principal.ts';
import { recordedCommand, runAndRecord } from '../../events/record.ts';
import type { Database } from '../../db/database.ts';
import { openSession } from '../../db/predicates.ts';
import { iso, query, type QueryRunner } from '../../db/query.ts';

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
};

const activeSessions = query<SessionRow>(
  'active_sessions',
  `select id, created_at, expires_at, authentication_type, country, city, browser, os, device_type
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
  return rows.map((row) => ({
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
  }));
}

/** Revokes a session of the account. An unknown id, or one of another account, is ignored (specification, section 4.5). */
export async function revokeMySession(db: Database, principal: Principal, sessionId: string): Promise<void> {
  const fields = { sessionId, reason: 'by the account' };
  await runAndRecord(db, revokeSession, [sessionId, principal.accountId], fields);
}
