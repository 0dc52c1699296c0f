import type { Principal } from '../../auth/principal.ts';
import { proofsOf } from '../../auth/session-proofs.ts';
import { instant, list, type ListRunner } from '../../db/lists/list.ts';
import { liveGrant, openSession } from '../../db/predicates.ts';
import { sessionOutput, sessionWithUseOutput } from './sessions.schema.ts';

const SESSION = `id, ${instant('created_at')} as "createdAt", ${instant('expires_at')} as "expiresAt",
     id = $2 as "isCurrentSession", authentication_type as "authenticationType", country, city, browser, os,
     device_type as "deviceType"`;

const sessionsWith = (columns: string) => ({
  select: `select ${columns} from session where account_id = $1 and ${openSession('session')}
   order by created_at desc, session.id desc`,
  from: `session where account_id = $1 and ${openSession('session')}`,
});

const activeSessions = list('session_list_active', sessionOutput, sessionsWith(SESSION));

const activeSessionsWithUse = list(
  'session_list_active_with_use',
  sessionWithUseOutput,
  sessionsWith(`${SESSION}, ${instant('last_used_at')} as "lastUsedAt", last_address as "lastAddress",
     array(select row_to_json(proof) from (
       select key as method, ${instant('value::timestamptz')} as at from jsonb_each_text(${proofsOf('session')})
       order by at desc, key collate "C") proof) as methods,
     array(select distinct c.name from oauth_token_family f
       join oauth_grant g on g.id = f.grant_id
       join oauth_client c on c.id = g.client_id
       where f.session_id = session.id and c.is_first_party and ${liveGrant('g')} order by c.name) as applications`),
);

export const listMySessions = (db: ListRunner, { accountId, credentialId }: Principal) =>
  db.list(activeSessions, [accountId, credentialId]);

/** Lists the sessions with their last use and what they prove, which REST does not have. */
export const listSessionsWithUse = (db: ListRunner, { accountId, credentialId }: Principal) =>
  db.list(activeSessionsWithUse, [accountId, credentialId]);
