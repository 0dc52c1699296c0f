import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** A place in the chain. Sequences are numbers: at a million events a second they last for 285 years. */
export type Place = { readonly sequence: number; readonly hash: string };

/** Before the first event. */
export const START: Place = { sequence: 0, hash: '00'.repeat(32) };

/** All columns of an event as text, which is the same however long ago it was written. */
export const CANONICAL = `e.id, to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at,
  e.event, e.actor_kind, e.actor_id, e.credential_id, e.client_id, e.team_id, e.account_id, e.target_id,
  e.address, e.request_id, e.details::text as details, e.count::text as count`;

export type CanonicalRow = Readonly<
  Record<'id' | 'occurred_at' | 'event' | 'actor_kind' | 'details' | 'count', string> &
    Record<
      'actor_id' | 'credential_id' | 'client_id' | 'team_id' | 'account_id' | 'target_id' | 'address' | 'request_id',
      string | null
    >
>;

/** The place of the event after another: SHA-256 of the hash before and of the event, whose JSON nothing else has. */
export function nextPlace(before: Place, row: CanonicalRow): Place {
  const sequence = before.sequence + 1;
  const text = JSON.stringify([
    sequence,
    row.id,
    row.occurred_at,
    row.event,
    row.actor_kind,
    row.actor_id,
    row.credential_id,
    row.client_id,
    row.team_id,
    row.account_id,
    row.target_id,
    row.address,
    row.request_id,
    row.details,
    row.count,
  ]);
  const hash = createHash('sha256').update(Buffer.from(before.hash, 'hex')).update(text).digest('hex');
  return { sequence, hash };
}

/** What the keys of checkpoints are derived for. */
export const CHECKPOINT_KEYS = 'audit-checkpoint';

export type Checkpoint = Place & { readonly isRoot: boolean; readonly createdAt: string };

/** The signature of a checkpoint, in hex. Whoever has the database and not `SECRET_KEYS` cannot make it. */
export const signCheckpoint = (key: Buffer, { sequence, hash, isRoot, createdAt }: Checkpoint): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([sequence, hash, isRoot, createdAt]))
    .digest('hex');

/** Whether any of the keys has signed a checkpoint. */
export const isSigned = (keys: readonly Buffer[], checkpoint: Checkpoint, signature: string): boolean =>
  keys.some((key) => {
    const expected = Buffer.from(signCheckpoint(key, checkpoint), 'hex');
    const given = Buffer.from(signature, 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
