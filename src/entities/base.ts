import { randomUUID } from 'node:crypto';
import { p } from '@mikro-orm/core';

/** Longer than clocks are adjusted by in passing, and much shorter than the minute by which ids and times may differ. */
const SET_BACK_MS = 1000;

let lastTime = 0;
let sequence = 0;

/**
 * Generates an id: `<kind>_` and a UUIDv7 (RFC 9562) in 26 digits of base32hex. Ids of one kind sort by creation
 * time in any collation. A counter in the first 12 random bits (section 6.2, method 1) orders the ids that one
 * process generates within a millisecond.
 */
export function newId(kind: string): string {
  const now = Date.now();
  // A clock that was wrong is followed. Otherwise ids would lie ahead of the times beside them until it got there again.
  if (now < lastTime - SET_BACK_MS) lastTime = 0;
  sequence = now > lastTime ? 0 : sequence + 1;
  // If the counter overflows or the clock was set back a little, continue with a later timestamp.
  lastTime = Math.max(now, lastTime) + (sequence > 0xfff ? 1 : 0);
  sequence &= 0xfff;

  const time = `${toHex(lastTime, 12)}7${toHex(sequence, 3)}`;
  // The last 64 bits of a UUIDv4 and a UUIDv7 are the same: the variant and 62 random bits. Node generates many at once.
  const random = randomUUID().slice(19).replace('-', '');
  return `${kind}_${toBase32(`0x${time}${random}`)}`;
}

const toHex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const toBase32 = (value: string | bigint): string => BigInt(value).toString(32).padStart(26, '0');

/** Returns the smallest id of an instant. Later ids are not smaller, except for clock skew between replicas. */
export const firstIdAt = (kind: string, at: Date): string => `${kind}_${toBase32(BigInt(at.getTime()) << 80n)}`;

/** A column for ids: text in the "C" collation, which compares fastest and in the same order on every server. */
export const textId = () => p.string().columnType('text').collation('C');

/** The columns of every entity. */
export const base = (kind: string) => ({
  id: textId()
    .primary()
    .onCreate(() => newId(kind)),
  createdAt: instant().onCreate(() => new Date()),
});

/** A `timestamptz` column with milliseconds, the precision of a JavaScript `Date`. */
export const instant = () => p.datetime().columnType('timestamptz(3)');

/** SQL of the columns of the row that is read. */
export type Formula = (columns: Record<string, string>) => string;

/**
 * Whether `expires_at` has passed when the row is read, by the clock of the database: that of this machine can differ. Not a
 * column, so it is set with an `expiresAt` that is.
 */
export const isExpired = () =>
  p.boolean().formula<Formula>(({ expiresAt }) => `coalesce(${expiresAt} <= now(), false)`);

/** What precedes an external id where an id is expected. Ids never begin with it. */
export const EXTERNAL_ID_PREFIX = 'ext:';

/** The id of a row in a system of the operator: 1 to 255 characters, unique in its table. */
export const externalId = () => text().collation('C').nullable();

export const text = () => p.string().columnType('text');
