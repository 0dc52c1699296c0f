import type { Change } from '../transactions/steps.ts';
import { hash } from 'node:crypto';
import { NOTICE_PAGES, type Notice, type NoticeCause, type NoticeKind, type NoticeThing } from '../email/notices.ts';
import { activeMembership } from '../db/predicates.ts';
import { command, query, type QueryRunner } from '../db/query.ts';
import { currentActor } from '../events/actor.ts';
import { accountMailKey, enqueue, type AccountMail, type AccessNotice } from './enqueue.ts';

/** The time after the first notice of a kind, team and cause in which others are collected. */
export const WINDOW = '10 minutes';

/** The things that an email names; of the others it has the number. */
export const THINGS_MAX = 20;

/** Returns whether notices of a kind are of a change of the access to an account. */
export const isCounted = (kind: string): kind is NoticeKind => Object.hasOwn(NOTICE_PAGES, kind);

const UNKNOWN_ORIGIN = { browser: null, os: null, country: null, city: null };

const BY = {
  session: 'session',
  api_key: 'api_key',
  oauth_grant: 'app',
  operator_session: 'operator',
  operator_key: 'operator',
  system: 'operator',
  anonymous: 'link',
} as const;

/** Describes who causes a change now. Keys that an application has made count as their own cause. */
export function createCause(): NoticeCause {
  const { actorKind, credentialId, clientId = null, origin } = currentActor();
  const by = actorKind in BY ? BY[actorKind as keyof typeof BY] : 'operator';
  return {
    at: new Date().toISOString(),
    by,
    byId: by === 'app' ? clientId : by === 'api_key' ? credentialId : null,
    origin: by === 'operator' ? UNKNOWN_ORIGIN : (origin?.() ?? UNKNOWN_ORIGIN),
  };
}

/** Returns the id under which notices of one kind, team and cause to one mailbox are counted. An email has one team. */
export function createWindowId(
  accountId: string,
  to: string,
  { kind, teamId }: { readonly kind: NoticeKind; readonly teamId?: string | null | undefined },
  { by, byId }: NoticeCause,
): string {
  const cause = byId ?? currentActor().credentialId ?? '';
  const parts = [accountId, to.toLowerCase(), kind, by, cause, teamId ?? ''];
  return `notice_${hash('sha256', parts.join(' ')).slice(0, 32)}`;
}

const lockCounted = command<{ number: number; things: NoticeThing[] }>(
  'sent_mail_lock_counted',
  'update sent_mail set number = number where id = $1 and number > 0 returning number, things',
);

const countAnew = command<never>(
  'sent_mail_update_window',
  `update sent_mail set number = 0, things = '[]', created_at = clock_timestamp() where id = $1`,
);

const namesOfNotice = query<{ team_name: string | null; by_name: string | null; permissions: string[] | null }>(
  'team_find_notice_names',
  `select (select name from team where id = $1) as team_name,
     case $2 when 'api_key' then (select name from api_key where id = $3)
       when 'app' then (select name from oauth_client where id = $3) end as by_name,
     (select r.permissions from membership m join role r on r.id = m.role_id
      where m.team_id = $1 and m.account_id = $4 and ${activeMembership('m')}) as permissions`,
);

/** Replaces the job of a digest by the notice of all that happened until now, and begins to count anew. */
export async function closeWindow(tx: Change, mail: AccountMail & AccessNotice, id: string): Promise<void> {
  // Locks the row, so that none is counted between the two statements.
  const [[counted]] = await tx.run([[lockCounted, [id]]]);
  if (counted === undefined) return;
  tx.later([countAnew, [id]]);
  const notice = { ...mail, ...counted, isDigest: false };
  await enqueue(tx, 'sendAccountMail', notice, accountMailKey(notice));
}

/** Reads what can still change until a notice is sent: its names, and what its reader may do in the team. */
export async function readNames(db: QueryRunner, accountId: string, notice: AccessNotice): Promise<Notice> {
  const { teamId = null, cause } = notice;
  const [row] = await db.query(namesOfNotice, [teamId, cause?.by ?? null, cause?.byId ?? null, accountId]);
  // The previous version named them so.
  const { newEmail, teamName } = notice as { newEmail?: string; teamName?: string };
  const thing = notice.thing ?? newEmail ?? teamName;
  const { team_name: name = null, by_name: byName = null, permissions = null } = row ?? {};
  return { ...notice, thing, teamName: name, byName, permissions };
}
