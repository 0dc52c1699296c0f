import type { EntityManager } from '@mikro-orm/postgresql';

type Limits = { readonly mailsPerDayFromTeam: number; readonly mailsPerDay: number };

/** `recipient` in lower case. `id` is the mail's own, the same at every attempt to send it. */
type Place = { readonly id: string; readonly recipient: string; readonly teamId: string };

/** "MAIL" in ASCII: the class of the advisory locks, one an address, that mails are counted under. */
const MAIL_LOCK = 0x4d41494c;

/**
 * Takes one of the places that a mailbox has for mails of the last 24 hours, before the mail is
 * sent: the lock is held for this transaction only, not while a mail server takes its time, and
 * workers on any number of replicas cannot exceed the limits together.
 * @returns null when the place is taken, else when there will be one.
 */
export async function takePlace(
  tx: EntityManager,
  limits: Limits,
  { id, recipient, teamId }: Place,
): Promise<Date | null> {
  await tx.execute('select pg_advisory_xact_lock(?, hashtext(?))', [MAIL_LOCK, recipient]);
  const [row] = await tx.execute<{ free_at: string | null }[]>(
    `with recent as (
       select team_id, created_at from sent_mail
       where recipient = ? and id <> ? and created_at > clock_timestamp() - interval '24 hours'
     )
     select greatest(
       (select created_at from recent where team_id = ? order by created_at desc offset ? limit 1),
       (select created_at from recent order by created_at desc offset ? limit 1)
     ) + interval '24 hours' as free_at`,
    [recipient, id, teamId, limits.mailsPerDayFromTeam - 1, limits.mailsPerDay - 1],
  );
  if (row !== undefined && row.free_at !== null) return new Date(row.free_at);
  await tx.execute(
    `insert into sent_mail (id, recipient, team_id, created_at) values (?, ?, ?, clock_timestamp())
     on conflict (id) do update set created_at = excluded.created_at`,
    [id, recipient, teamId],
  );
  return null;
}

/** Gives the place of a mail back that did not leave. */
export async function giveBackPlace(em: EntityManager, id: string): Promise<void> {
  await em.execute('delete from sent_mail where id = ?', [id]);
}
