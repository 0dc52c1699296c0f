import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import type { Sql } from '../chain/sql.ts';

/** Bounds one statement. An account can have caused any number of events. */
const BATCH_MAX = 5000;

const IS_INVITATION = `starts_with(p.type, 'invitation.')`;
const ADDRESS = `lower(p.data #>> '{invitation,email}')`;

/** Which payloads to erase: a condition on `event_payload p`, with its values. */
type Which = { readonly where: string; readonly values: readonly unknown[] };

/**
 * Erases what events show of an account, and of all invitations to its verified email address. Called at the end of
 * the transaction that deletes it, after its rows were deleted.
 */
export async function eraseAccount(sql: Sql, accountId: string, verifiedEmail: string | null): Promise<void> {
  const ofAccount = { where: 'p.account_id = ?', values: [accountId] };
  // Most of it before the lock, so that many rows delay no numbering. Not invitations, whose rows the numbering locks.
  await erase(sql, { ...ofAccount, where: `${ofAccount.where} and not ${IS_INVITATION}` });
  await lockAgainstNumbering(sql);
  await erase(sql, ofAccount);
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
