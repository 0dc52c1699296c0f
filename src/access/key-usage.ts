import type { Database } from '../db/database.ts';
import { statement } from '../db/read.ts';

const MINUTE_MS = 60_000;
const FLUSH_MS = 15_000;

const writeLastUsed = statement<never>(
  'write_last_used',
  `update api_key set last_used_at = used.at
   from unnest($1::text[], $2::timestamptz[]) as used(id, at)
   where api_key.id = used.id and (last_used_at is null or last_used_at < used.at)`,
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

  const flush = async () => {
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
