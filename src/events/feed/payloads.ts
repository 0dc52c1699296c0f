import { EVENTS, toEventName, type EventName } from '../catalogue.ts';
import type { EventDefinition } from '../definition.ts';
import type { CanonicalRow } from '../chain/event-columns.ts';
import type { Sql } from '../chain/sql.ts';
import type { DataKind } from '../data.ts';
import { eraseInvitations, lockPayloads } from './erase.ts';
import { SOURCES, type PayloadServices } from './sources.ts';

type Delivered = {
  readonly event: CanonicalRow;
  readonly type: EventName;
  readonly sequence: number;
  readonly kind: DataKind | null;
};

/**
 * Stores what delivered events show, in the transaction that numbers them. The data is the
 * state of the resource at that time, which can be later than the event. It is null if the resource no longer exists.
 * @param start the position before the first event
 */
export async function writePayloads(
  sql: Sql,
  services: PayloadServices,
  events: readonly CanonicalRow[],
  start: number,
): Promise<void> {
  const delivered = events.flatMap((event, i): Delivered[] => {
    const type = toEventName(event.event);
    // Undefined in an event of a newer version that has not numbered it. Then that version shows it without data.
    const { isDelivered, data }: Pick<EventDefinition, 'isDelivered' | 'data'> = EVENTS[type] ?? UNKNOWN;
    return isDelivered ? [{ event, type, sequence: start + i + 1, kind: data }] : [];
  });
  if (delivered.length === 0) return;
  // Sent together. Each statement has a snapshot of its own, taken after the lock.
  const [, found] = await Promise.all([lockPayloads(sql), readResources(sql, delivered)]);
  const data = delivered.map((row) => findData(found, services, row));
  // If an attacker deleted the chain, its old payloads must not stop the numbering. `audit verify` reports the deletion.
  await sql.execute(
    `insert into event_payload (sequence, event_id, type, team_id, account_id, target_id, data, created_at)
     select *, now() from unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::jsonb[])
     on conflict (sequence) do update set event_id = excluded.event_id, type = excluded.type,
       team_id = excluded.team_id, account_id = excluded.account_id, target_id = excluded.target_id,
       data = excluded.data, created_at = excluded.created_at`,
    [
      delivered.map(({ sequence }) => sequence),
      delivered.map(({ event }) => event.id),
      delivered.map(({ type }) => type),
      delivered.map(({ event }) => event.team_id),
      delivered.map(({ event }) => event.account_id),
      delivered.map(({ event }) => event.target_id),
      data.map((one) => (one === null ? null : JSON.stringify(one))),
    ],
  );
  await eraseDeleted(sql, delivered, data);
}

const UNKNOWN = { isDelivered: true, data: null };

type Found = Partial<Record<DataKind, ReadonlyMap<string, Record<string, unknown>>>>;

/** Reads the resources of each kind in one statement. */
async function readResources(sql: Sql, delivered: readonly Delivered[]): Promise<Found> {
  const keys = new Map<DataKind, Set<string>>();
  for (const { event, kind } of delivered) {
    const key = kind && SOURCES[kind].keyOf(event);
    if (kind !== null && key) keys.set(kind, (keys.get(kind) ?? new Set()).add(key));
  }
  const read = async ([kind, wanted]: [DataKind, Set<string>]) => {
    const rows = await sql.execute<{ key: string; data: Record<string, unknown> }[]>(SOURCES[kind].sql, [[...wanted]]);
    return [kind, new Map(rows.map(({ key, data }) => [key, data]))] as const;
  };
  return Object.fromEntries(await Promise.all([...keys].map(read)));
}

function findData(found: Found, services: PayloadServices, { event, kind }: Delivered): object | null {
  if (kind === null) return null;
  const { keyOf, complete } = SOURCES[kind];
  const row = found[kind]?.get(keyOf(event) ?? '');
  const resource = row === undefined || complete === undefined ? row : complete(row, services);
  return resource ? { [kind]: resource } : null;
}

/**
 * Erases what earlier events show of an invitation that was deleted meanwhile. The event of its deletion has its place after
 * them, so none of them is written later. What they show of an account is erased by its deletion (`eraseAccount`).
 */
async function eraseDeleted(
  sql: Sql,
  delivered: readonly Delivered[],
  data: readonly (object | null)[],
): Promise<void> {
  const gone = delivered.filter(({ kind }, i) => kind === 'invitation' && data[i] === null);
  if (gone.length > 0)
    await eraseInvitations(
      sql,
      gone.map(({ event }) => event.target_id),
    );
}
