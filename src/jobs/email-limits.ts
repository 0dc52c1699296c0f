import { ADVISORY_LOCKS } from '../db/advisory-locks.ts';
import type { Database } from '../db/database.ts';
import { command, query } from '../db/query.ts';
import type { Change } from '../transactions/steps.ts';

/** The maximum number of emails of one kind to a mailbox within a window, in total and from one team. */
export type EmailLimit = {
  readonly windowHours: number;
  readonly max: number;
  /** Defaults to the total. */
  readonly maxFromTeam?: number;
};

/** `recipient` is in lower case. `id` is the same for every attempt to send one email; see `createEmailId`. */
export type EmailSlot = { readonly id: string; readonly recipient: string; readonly teamId?: string | null };

/** The window in which links are counted. Sign-in and reset links are valid for as long, so that one of them is always valid. */
export const LINK_WINDOW_HOURS = 1;
export const LINK_WINDOW = `${LINK_WINDOW_HOURS} hour`;

/** Creates the id of an email. It begins with the kind, because each kind is counted separately. */
export const createEmailId = (kind: string, unique: string): string => `mail_${kind}_${unique}`;

const lockMailbox = command<object>('mailbox_lock', 'select from pg_advisory_xact_lock($1::int, hashtext($2))');

const nextFreeSlot = query<{ free_at: string | null }>(
  'sent_mail_find_free_slot',
  `with recent as (
     select team_id, created_at from sent_mail
     where recipient = $1 and id <> $2 and starts_with(id, $3)
       and created_at > clock_timestamp() - make_interval(hours => $4::int)
   )
   select greatest(
     (select created_at from recent where team_id = $5 order by created_at desc offset $6::int limit 1),
     (select created_at from recent order by created_at desc offset $7::int limit 1)
   ) + make_interval(hours => $4::int) as free_at`,
);

const insertSlot = command<never>(
  'sent_mail_upsert',
  `insert into sent_mail (id, recipient, team_id, created_at) values ($1, $2, $3, clock_timestamp())
   on conflict (id) do update set created_at = excluded.created_at`,
);

/**
 * Reserves a slot before an email is sent. Each kind of email to a mailbox is counted separately, so that emails that
 * other people cause never delay those that its owner requests. The lock is held for this transaction only, not while
 * the mail server responds. Workers of several replicas cannot exceed the limits together.
 * @returns null if a slot was reserved, else when the next one is free
 */
export async function reserveEmailSlot(
  change: Change,
  { windowHours, max, maxFromTeam = max }: EmailLimit,
  { id, recipient, teamId = null }: EmailSlot,
): Promise<Date | null> {
  const [, [row]] = await change.run([
    [lockMailbox, [ADVISORY_LOCKS.email, recipient]],
    [nextFreeSlot, [recipient, id, kindPrefix(id), windowHours, teamId, maxFromTeam - 1, max - 1]],
  ]);
  if (row !== undefined && row.free_at !== null) return new Date(row.free_at);
  change.later([insertSlot, [id, recipient, teamId]]);
  return null;
}

const kindPrefix = (id: string): string => id.slice(0, id.lastIndexOf('_') + 1);

/** Releases the slot of an email that was not sent. */
export async function releaseEmailSlot(db: Pick<Database, 'run'>, id: string): Promise<void> {
  await db.run(deleteSlot, [id]);
}

const deleteSlot = command<never>('sent_mail_delete', 'delete from sent_mail where id = $1');
