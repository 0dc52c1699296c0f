import { ADVISORY_LOCKS } from '../db/advisory-locks.ts';
import type { EntityManager } from '@mikro-orm/postgresql';

type Limits = { readonly mailsPerDayFromTeam: number; readonly mailsPerDay: number };

/** `recipient` in lower case. `id` is the mail's own, the same at every attempt to send it. */
type Place = { readonly id: string; readonly recipient: string };
type TeamPlace = Place & { /** Null for a mail that no team sends. */ readonly teamId: string | null };

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

/** The id of an email that {@link takeLinkPlace} counts. */
export const linkMailId = (kind: string, unique: string): string => `${LINK}${kind}_${unique}`;

/** The window in which links are counted. A link that signs in or resets is valid for as long, so that one of them always is. */
export const LINK_WINDOW = '1 hour';

/**
 * Reserves a slot for an email with a link. Each kind of link is counted apart and by the hour, so that neither
 * other emails nor another kind of link, which strangers can request, delay the one that its owner needs.
 */
export async function takeLinkPlace(
  tx: EntityManager,
  linkMailsPerHour: number,
  { id, recipient }: Place,
): Promise<Date | null> {
  await lockMailbox(tx, recipient);
  const [row] = await tx.execute<FreeAt[]>(
    `select created_at + interval '${LINK_WINDOW}' as free_at from sent_mail
     where recipient = ? and id <> ? and starts_with(id, ?) and created_at > clock_timestamp() - interval '${LINK_WINDOW}'
     order by created_at desc offset ? limit 1`,
    [recipient, id, id.slice(0, id.lastIndexOf('_') + 1), linkMailsPerHour - 1],
  );
  return takenUnless(tx, row, { id, recipient, teamId: null });
}

type FreeAt = { free_at: string | null };

const lockMailbox = (tx: EntityManager, recipient: string) =>
  tx.execute('select pg_advisory_xact_lock(?, hashtext(?))', [ADVISORY_LOCKS.email, recipient]);

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
