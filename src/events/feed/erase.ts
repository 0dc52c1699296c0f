import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import { EVENTS, type EventName } from '../catalogue.ts';
import type { Sql } from '../chain/sql.ts';
import { tellsOfAccount } from '../data.ts';

/** Bounds one statement. An account can have caused any number of events. */
const BATCH_MAX = 5000;

const IS_INVITATION = `starts_with(p.type, 'invitation.')`;
const ADDRESS = `lower(p.data #>> '{invitation,email}')`;

/** Which payloads to erase: a condition on `event_payload p`, with its values. */
type Which = { readonly where: string; readonly values: readonly unknown[] };

/** The answer to an invitation is given by the account that it is about. */
const IS_ANSWER: readonly EventName[] = ['invitation.accepted', 'invitation.declined'];

/**
 * Types of which the data does not tell of the account of the event, such as a role, where it is who acted. Of a type
 * that only a newer version knows, the data is erased.
 */
const OF_OTHERS = (Object.keys(EVENTS) as EventName[]).filter((type) => {
  const { data } = EVENTS[type];
  return data !== null && !tellsOfAccount(data) && !IS_ANSWER.includes(type);
});

type Deleted = {
  readonly accountId: string;
  /** The teams that are deleted with the account. */
  readonly teamIds: readonly string[];
  readonly verifiedEmail: string | null;
};

/**
 * Erases what events show of an account and of the teams that are deleted with it, and of all invitations to its
 * verified email address. Called at the end of the transaction that deletes it, after its rows were deleted.
 */
export async function eraseAccount(sql: Sql, { accountId, teamIds, verifiedEmail }: Deleted): Promise<void> {
  const parts: Which[] = [
    { where: `p.account_id = ? and p.type <> all(string_to_array(?, ' '))`, values: [accountId, OF_OTHERS.join(' ')] },
    ...teamIds.map((teamId) => ({ where: 'p.team_id = ?', values: [teamId] })),
  ];
  // Most of it before the lock, so that many rows delay no numbering. Not invitations, whose rows the numbering locks.
  for (const part of parts) await erase(sql, { ...part, where: `${part.where} and not ${IS_INVITATION}` });
  await lockAgainstNumbering(sql);
  for (const part of parts) await erase(sql, part);
  if (verifiedEmail !== null)
    await erase(sql, { where: `${IS_INVITATION} and ${ADDRESS} = lower(?)`, values: [verifiedEmail] });
}

/** Erases what events show of former invitations to an email address, which its account is leaving. */
export async function eraseFormerAddress(sql: Sql, email: string): Promise<void> {
  await lockAgainstNumbering(sql);
  const isGone = 'not exists (select from invitation i where i.id = p.target_id)';
  await erase(sql, { where: `${IS_INVITATION} and ${ADDRESS} = lower(?) and ${isGone}`, values: [email] });
}

/** Erases what events show of invitations that were deleted. The numbering does so with the event of the deletion. */
export const eraseInvitations = (sql: Sql, ids: readonly (string | null)[]): Promise<void> =>
  erase(sql, { where: `${IS_INVITATION} and p.target_id = any(string_to_array(?, ' '))`, values: [ids.join(' ')] });

/**
 * Makes the numbering wait for transactions that erase, and the other way round. Otherwise it could read a row before
 * its deletion, and write what it read after the erasure.
 */
export const lockPayloads = (sql: Sql): Promise<object[]> =>
  sql.execute('select pg_advisory_xact_lock(?)', [ADVISORY_LOCKS.eventPayloads]);

const lockAgainstNumbering = (sql: Sql): Promise<object[]> =>
  sql.execute('select pg_advisory_xact_lock_shared(?)', [ADVISORY_LOCKS.eventPayloads]);

async function erase(sql: Sql, { where, values }: Which): Promise<void> {
  for (let erased = BATCH_MAX; erased === BATCH_MAX;) {
    const rows = await sql.execute<{ event_id: string; team_id: string | null }[]>(
      `with due as (select p.sequence from event_payload p where ${where} and p.data is not null
         order by p.sequence limit ${BATCH_MAX} for no key update)
       update event_payload p set data = null from due where p.sequence = due.sequence returning p.event_id, p.team_id`,
      [...values],
    );
    erased = rows.length;
    if (erased > 0) await sql.execute(ERASE_ANSWERS, [JSON.stringify(rows)]);
  }
}

/** An answer can repeat what the receiver got. One that is noted later is not stored (`src/webhooks/note.ts`). */
const ERASE_ANSWERS = `
  update webhook_attempt a set answer = null
  from jsonb_to_recordset(?::jsonb) as e (event_id text, team_id text)
  join webhook_endpoint w on w.team_id is null or w.team_id = e.team_id
  join webhook_delivery d on d.endpoint_id = w.id and d.event_id = e.event_id
  where a.delivery_id = d.id and a.answer is not null`;
