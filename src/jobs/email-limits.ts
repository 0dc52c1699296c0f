import type { EntityManager } from '@mikro-orm/postgresql';

type Limits = { readonly mailsPerDayFromTeam: number; readonly mailsPerDay: number };

/** `recipient` in lower case. `id` is the mail's own, the same at every attempt to send it. */
type Place = { readonly id: string; readonly recipient: string };
type TeamPlace = Place & { /** Null for a mail that no team sends. */ readonly teamId: string | null };

/** "MAIL" in ASCII: the class of the advisory locks, one an address, that mails are counted under. */
const MAIL_LOCK = 0x4d41494c;

/** What the ids of mails begin with that carry a link an account cannot do without. */
const LINK = 'link_';

/**
 * Takes one of the places that a mailbox has for mails of the last 24 hours, before the mail is
 * sent: the lock is held for this transaction only, not while a mail server takes its time, and
 * workers on any number of replicas cannot exceed the limits together.
 * @returns null when the place is taken, else when there will be one.
 */
export async function takePlace(
  tx: EntityManager,
  limits: Limits,
  { id, recipient, teamId }: TeamPlace,
): Promise<Date | null> {
  await lockMailbox(tx, recipient);
  const [row] = await tx.execute<FreeAt[]>(
    `with recent as (
       select team_id, created_at from sent_mail
       where recipient = ? and id <> ? and not starts_with(id, ?) and created_at > clock_timestamp() - interval '24 hours'
     )
     select greatest(
       (select created_at from recent where team_id = ? order by created_at desc offset ? limit 1),
       (select created_at from recent order by created_at desc offset ? limit 1)
     ) + interval '24 hours' as free_at`,
    [recipient, id, LINK, teamId, limits.mailsPerDayFromTeam - 1, limits.mailsPerDay - 1],
  );
  return takenUnless(tx, row, { id, recipient, teamId });
}

/** The id of a mail that {@link takeLinkPlace} counts. */
export const linkMailId = (unique: string): string => LINK + unique;

/**
 * Takes a place for a link that verifies or resets. They are few and count for themselves, so that
 * no flood of other mails keeps somebody out; and by the hour, in which the last one still works.
 */
export async function takeLinkPlace(
  tx: EntityManager,
  linkMailsPerHour: number,
  { id, recipient }: Place,
): Promise<Date | null> {
  await lockMailbox(tx, recipient);
  const [row] = await tx.execute<FreeAt[]>(
    `select created_at + interval '1 hour' as free_at from sent_mail
     where recipient = ? and id <> ? and starts_with(id, ?) and created_at > clock_timestamp() - interval '1 hour'
     order by created_at desc offset ? limit 1`,
    [recipient, id, LINK, linkMailsPerHour - 1],
  );
  return takenUnless(tx, row, { id, recipient, teamId: null });
}

type FreeAt = { free_at: string | null };

const lockMailbox = (tx: EntityManager, recipient: string) =>
  tx.execute('select pg_advisory_xact_lock(?, hashtext(?))', [MAIL_LOCK, recipient]);

async function takenUnless(
  tx: EntityManager,
  held: FreeAt | undefined,
  { id, recipient, teamId }: TeamPlace,
): Promise<Date | null> {
  if (held !== undefined && held.free_at !== null) return new Date(held.free_at);
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
