import { randomBytes } from 'node:crypto';
import { p } from '@mikro-orm/core';

let lastTime = 0;
let sequence = 0;

/**
 * A new id: `<kind>_` and a UUIDv7 (RFC 9562) in 26 digits of base32hex, so that ids of one kind
 * sort by the time they were made, in any collation. Those that one process makes within a
 * millisecond sort too, by a counter in the first 12 random bits (section 6.2, method 1).
 */
export function newId(kind: string): string {
  const now = Date.now();
  sequence = now > lastTime ? 0 : sequence + 1;
  // A counter that is full borrows from the future, as does a clock that has been set back.
  lastTime = Math.max(now, lastTime) + (sequence > 0xfff ? 1 : 0);
  sequence &= 0xfff;

  const bytes = randomBytes(16);
  bytes.writeUIntBE(lastTime, 0, 6);
  bytes.writeUInt16BE(0x7000 | sequence, 6);
  bytes[8] = 0x80 | (bytes.readUInt8(8) & 0x3f);
  return `${kind}_${BigInt(`0x${bytes.toString('hex')}`)
    .toString(32)
    .padStart(26, '0')}`;
}

/** The least id that is made at an instant: ids from then on are not before it, but for clocks that differ. */
export const firstIdAt = (kind: string, at: Date): string =>
  `${kind}_${(BigInt(at.getTime()) << 80n).toString(32).padStart(26, '0')}`;

/** Ids are text in the "C" collation: the cheapest comparison, the same order everywhere. */
export const textId = () => p.string().columnType('text').collation('C');

/** The columns every entity has. */
export const base = (kind: string) => ({
  id: textId()
    .primary()
    .onCreate(() => newId(kind)),
  createdAt: instant().onCreate(() => new Date()),
});

/** A `timestamptz` with milliseconds, which is what JSON carries. */
export const instant = () => p.datetime().columnType('timestamptz(3)');

export const text = () => p.string().columnType('text');
