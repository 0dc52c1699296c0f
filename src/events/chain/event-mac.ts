import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Encryption } from '../../crypto/encryption.ts';
import type { Database } from '../../db/database.ts';
import type { CanonicalRow } from './hash-chain.ts';

const PURPOSE = 'audit-event';

/** The columns of an event that its MAC covers: all of them. */
export type MacInput = {
  readonly id: string;
  readonly occurredAt: Date;
  readonly event: string;
  readonly actorKind: string;
  readonly actorId: string | null;
  readonly credentialId: string | null;
  readonly clientId: string | null;
  readonly teamId: string | null;
  readonly accountId: string | null;
  readonly targetId: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly count: number;
};

const macOf = (key: Buffer, columns: readonly unknown[]): Buffer =>
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
function signEvent(key: Buffer, event: MacInput): Buffer {
  return macOf(key, [
    event.id,
    event.occurredAt.toISOString(),
    event.event,
    event.actorKind,
    event.actorId,
    event.credentialId,
    event.clientId,
    event.teamId,
    event.accountId,
    event.targetId,
    event.address,
    event.requestId,
    canonical(event.details),
    event.count,
  ]);
}

/** Returns whether one of the keys signed a stored event. */
export function isEventSigned(keys: readonly Buffer[], row: CanonicalRow): boolean {
  if (row.mac === null) return false;
  const given = Buffer.from(row.mac, 'hex');
  const columns = [
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
    canonical(JSON.parse(row.details)),
    Number(row.count),
  ];
  return keys.some((key) => {
    const expected = macOf(key, columns);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Returns the keys that events are signed with; the first one signs. */
export const eventKeys = (encryption: Encryption): readonly Buffer[] => encryption.keysFor(PURPOSE);

// Keyed by driver, which all entity managers of a database share, because `record` knows only the entity manager.
const signingKeys = new WeakMap<object, Buffer>();

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
