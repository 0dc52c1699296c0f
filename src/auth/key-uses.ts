import type { Database } from '../db/database.ts';
import { command } from '../db/query.ts';
import { DAY_MS } from '../time.ts';

// A key that was deleted meanwhile is left out.
const writeKeyDays = command<never>(
  'api_key_use_upsert',
  `insert into api_key_use (api_key_id, day, requests, address)
   select used.id, used.day, used.requests, used.address
   from unnest($1::text[], $2::date[], $3::bigint[], $4::text[]) as used(id, day, requests, address)
   join api_key k on k.id = used.id
   order by used.id, used.day
   on conflict (api_key_id, day) do update
     set requests = api_key_use.requests + excluded.requests, address = coalesce(excluded.address, api_key_use.address)`,
);

type DayOfKey = { readonly id: string; readonly day: number; requests: number; address: string | null };

/**
 * Counts the requests of API keys by day (UTC), with the last IP address. A batch is written again if its answer was
 * lost, so a failure of the database can count it twice, and never loses it.
 */
export function countKeyUses(db: Database) {
  let pending = new Map<string, DayOfKey>();

  const add = ({ id, day, requests, address }: DayOfKey): void => {
    const name = `${id} ${day}`;
    const known = pending.get(name);
    if (known === undefined) pending.set(name, { id, day, requests, address });
    else {
      known.requests += requests;
      known.address = address ?? known.address;
    }
  };
  return {
    note: (id: string, address: string | null): void =>
      add({ id, day: Math.floor(Date.now() / DAY_MS), requests: 1, address }),

    async write(): Promise<void> {
      if (pending.size === 0) return;
      const written = pending;
      pending = new Map();
      const days = [...written.values()];
      try {
        await db.run(writeKeyDays, [
          days.map(({ id }) => id),
          days.map(({ day }) => new Date(day * DAY_MS).toISOString().slice(0, 10)),
          days.map(({ requests }) => requests),
          days.map(({ address }) => address),
        ]);
      } catch (error) {
        // What came meanwhile is later, so its address counts.
        const later = pending;
        pending = written;
        for (const day of later.values()) add(day);
        throw error;
      }
    },
  };
}
