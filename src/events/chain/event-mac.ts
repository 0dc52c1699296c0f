import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Encryption } from '../../crypto/encryption.ts';
import type { Database } from '../../db/database.ts';
import { COLUMNS, PROPERTIES, type CanonicalRow, type EventProperty } from './event-columns.ts';

const PURPOSE = 'audit-event';

/** An event before it is stored. */
export type MacInput = Readonly<Record<EventProperty, unknown>>;

const computeMac = (key: KeyObject, columns: readonly unknown[]): Buffer =>
  createHmac('sha256', key).update(JSON.stringify(columns)).digest();

/** Sorts the keys of objects, because `jsonb` does not keep their order. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  if ('toJSON' in value) return value;
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, member]) => [name, canonical(member)]));
}

/** Signs an event, so that the worker chains only rows that this service wrote. */
const signEvent = (key: KeyObject, event: MacInput): Buffer =>
  computeMac(
    key,
    PROPERTIES.map((property) => canonical(event[property])),
  );

/** Returns whether one of the keys signed a stored event. */
export function isEventSigned(keys: readonly KeyObject[], row: CanonicalRow): boolean {
  if (row.mac === null) return false;
  const given = Buffer.from(row.mac, 'hex');
  const stored = { ...row, details: JSON.parse(row.details) as unknown, count: Number(row.count) };
  const columns = COLUMNS.map((column) => canonical(stored[column]));
  return keys.some((key) => {
    const expected = computeMac(key, columns);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Returns the keys that events are signed with; the first one signs. */
export const eventKeys = (encryption: Encryption): readonly KeyObject[] => encryption.keysFor(PURPOSE);

// Keyed by driver, which all entity managers of a database share.
const signingKeys = new WeakMap<object, KeyObject>();

/** Sets the key that signs the events of a database. Without one, nothing can be recorded in it. */
export function useEventKey(db: Database, encryption: Encryption): void {
  const [key] = eventKeys(encryption);
  if (key !== undefined) signingKeys.set(db.orm.em.getDriver(), key);
}

/** Returns the MAC of an event that is about to be inserted. */
export function createMac(em: EntityManager, event: MacInput): Buffer {
  const key = signingKeys.get(em.getDriver());
  if (key === undefined) throw new Error('Call useEventKey before recording events in this database.');
  return signEvent(key, event);
}
