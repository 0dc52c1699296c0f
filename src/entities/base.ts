import { randomBytes } from 'node:crypto';
import { p } from '@mikro-orm/core';

/**
 * A new id: `<kind>_` and a UUIDv7 (RFC 9562) in 26 digits of base32hex, so that ids of one kind
 * sort by the time they were made, in any collation.
 */
export function newId(kind: string): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return `${kind}_${BigInt(`0x${bytes.toString('hex')}`)
    .toString(32)
    .padStart(26, '0')}`;
}

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
