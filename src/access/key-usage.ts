import type { Database } from '../db/database.ts';
import { statement } from '../db/read.ts';

const MINUTE_MS = 60_000;
const FLUSH_MS = 15_000;

const writeLastUsed = statement<never>(
  'write_last_used',
  // Locked in the order of their ids, as everywhere, so that batches of replicas and re-scopings cannot deadlock.
  `update api_key set last_used_at = used.at
   from (
     select k.id, noted.at
     from api_key k
     join unnest($1::text[], $2::timestamptz[]) as noted(id, at) on noted.id = k.id
     where k.last_used_at is null or k.last_used_at < noted.at
     order by k.id
     for no key update of k
   ) used
   where api_key.id = used.id`,
);

/**
 * Keeps `lastUsedAt` to the minute without a write on the request path: uses are noted in memory
 * and written in batches. A crash loses at most what was noted since the last batch.
 */
export type KeyUsage = {
  note(keyId: string): void;
  flush(): Promise<void>;
  /** Writes what is left and stops. */
  close(): Promise<void>;
};

export function trackKeyUsage(db: Database, onError: (error: unknown) => void): KeyUsage {
  let pending = new Map<string, number>();
  let written = new Map<string, number>();
  let flushed = Promise.resolve();

  const write = async () => {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    try {
      await db.read(writeLastUsed, [[...batch.keys()], [...batch.values()].map((at) => new Date(at).toISOString())]);
      written = batch;
    } catch (error) {
      // Kept for the next round, unless the key has been used again meanwhile.
      for (const [id, at] of batch) if (!pending.has(id)) pending.set(id, at);
      onError(error);
    }
  };
  // One batch after the other, so that the last one waits for what is on its way.
  const flush = () => (flushed = flushed.then(write));
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();

  return {
    note(keyId) {
      const minute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
      if (pending.get(keyId) !== minute && written.get(keyId) !== minute) pending.set(keyId, minute);
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
