import type { Database } from '../db/database.ts';
import { command } from '../db/query.ts';
import type { Principal } from './principal.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../time.ts';

const FLUSH_MS = 15 * SECOND_MS;

// Rows are locked in the order of their ids, as everywhere, so that batches of replicas and re-scopings cannot deadlock.
const writeUse = (table: 'api_key' | 'oauth_grant') =>
  command<never>(
    `write_${table}_use`,
    `update ${table} set last_used_at = used.at
     from (
       select c.id, noted.at
       from ${table} c
       join unnest($1::text[], $2::timestamptz[]) as noted(id, at) on noted.id = c.id
       where c.last_used_at is null or c.last_used_at < noted.at
       order by c.id
       for no key update of c
     ) used
     where ${table}.id = used.id`,
  );
const writeKeyUse = writeUse('api_key');
const writeGrantUse = writeUse('oauth_grant');

const writeFirstUse = command<never>(
  'write_first_use',
  'update oauth_token set used_at = now() where token_hash = $1 and used_at is null',
);

const writeSessionUse = command<never>(
  'write_session_use',
  `update session set idle_expires_at = used.until
   from (
     select s.id, noted.until
     from session s
     join unnest($1::text[], $2::timestamptz[]) as noted(id, until) on noted.id = s.id
     where s.idle_expires_at < noted.until
     order by s.id
     for no key update of s
   ) used
   where session.id = used.id`,
);

/**
 * Keeps `lastUsedAt` of keys and grants and the idle end of sessions, to the minute, without a write on the
 * request path: uses are noted in memory and written in batches. A crash loses at most what was
 * noted since the last batch.
 */
export type Usage = {
  note(principal: Principal): void;
  /** Writes at once, beside the request, that a refreshed access token works: its refresh is not repeated any more. */
  noteFirstUse(tokenHash: Buffer): void;
  flush(): Promise<void>;
  /** Writes what is left and stops. */
  close(): Promise<void>;
};

export function trackUsage(db: Database, sessionIdleDays: number, onError: (error: unknown) => void): Usage {
  const keys = batch((ids, minutes) => db.run(writeKeyUse, [ids, minutes.map(isoOf)]));
  const grants = batch((ids, minutes) => db.run(writeGrantUse, [ids, minutes.map(isoOf)]));
  const sessions = batch((ids, minutes) =>
    db.run(writeSessionUse, [ids, minutes.map((minute) => isoOf(minute + sessionIdleDays * DAY_MS))]),
  );

  const flush = async () => {
    await Promise.all([keys.write(), grants.write(), sessions.write(), ...firstUses.values()]).catch(onError);
  };
  const firstUses = new Map<string, Promise<unknown>>();
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();

  return {
    note({ kind, credentialId }) {
      const minute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
      const of = { 'api-key': keys, 'oauth-grant': grants, session: sessions }[kind];
      of.note(credentialId, minute);
    },
    noteFirstUse(tokenHash) {
      const name = tokenHash.toString('base64url');
      if (firstUses.has(name)) return;
      const written = db.run(writeFirstUse, [tokenHash]).catch(onError);
      firstUses.set(
        name,
        written.finally(() => firstUses.delete(name)),
      );
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

const isoOf = (time: number): string => new Date(time).toISOString();

/** What has been used since the last write, and when it was written, so that a minute is written once. */
function batch(save: (ids: string[], minutes: number[]) => Promise<unknown>) {
  let pending = new Map<string, number>();
  let written = new Map<string, number>();

  return {
    note(id: string, minute: number): void {
      if (pending.get(id) !== minute && written.get(id) !== minute) pending.set(id, minute);
    },
    async write(): Promise<void> {
      if (pending.size === 0) return;
      const current = pending;
      pending = new Map();
      try {
        await save([...current.keys()], [...current.values()]);
        written = current;
      } catch (error) {
        // Kept for the next round, unless it has been used again meanwhile.
        for (const [id, minute] of current) if (!pending.has(id)) pending.set(id, minute);
        throw error;
      }
    },
  };
}
