import { runInBackground } from '../db/caller.ts';
import type { Database } from '../db/database.ts';
import { command } from '../db/query.ts';
import type { OperatorPrincipal, Principal } from './principal.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../time.ts';

const FLUSH_MS = 15 * SECOND_MS;

// Locks rows in the order of their ids (see LOCK_ORDER), so that batches of several replicas and scope changes cannot deadlock.
const createUseCommand = (table: 'api_key' | 'oauth_grant' | 'operator_key') =>
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
const writeKeyUse = createUseCommand('api_key');
const writeGrantUse = createUseCommand('oauth_grant');
const writeOperatorKeyUse = createUseCommand('operator_key');

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
 * Updates `lastUsedAt` of keys and grants and the idle expiry of sessions, rounded to minutes. Uses are collected in
 * memory and written in batches, so that requests do not write. A crash loses the uses since the last batch.
 */
export type Usage = {
  note(principal: Pick<Principal | OperatorPrincipal, 'kind' | 'credentialId'>): void;
  /** Writes the first use of a refreshed access token without delaying the request. Its refresh can no longer be repeated. */
  noteFirstUse(tokenHash: Buffer): void;
  flush(): Promise<void>;
  /** Writes the remaining uses and stops. */
  close(): Promise<void>;
};

export function trackUsage(db: Database, sessionIdleDays: number, onError: (error: unknown) => void): Usage {
  const keys = createBatch((ids, minutes) => db.run(writeKeyUse, [ids, minutes.map(toIso)]));
  const grants = createBatch((ids, minutes) => db.run(writeGrantUse, [ids, minutes.map(toIso)]));
  const operatorKeys = createBatch((ids, minutes) => db.run(writeOperatorKeyUse, [ids, minutes.map(toIso)]));
  const sessions = createBatch((ids, minutes) =>
    db.run(writeSessionUse, [ids, minutes.map((minute) => toIso(minute + sessionIdleDays * DAY_MS))]),
  );

  const flush = async () => {
    const batches = [keys, grants, operatorKeys, sessions].map((batch) => batch.write());
    await Promise.all([...batches, ...firstUses.values()]).catch(onError);
  };
  const firstUses = new Map<string, Promise<unknown>>();
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();

  return {
    note({ kind, credentialId }) {
      const minute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
      const uses = { 'api-key': keys, 'oauth-grant': grants, 'operator-key': operatorKeys, session: sessions }[kind];
      uses.note(credentialId, minute);
    },
    noteFirstUse(tokenHash) {
      const name = tokenHash.toString('base64url');
      if (firstUses.has(name)) return;
      const written = runInBackground(() => db.run(writeFirstUse, [tokenHash])).catch(onError);
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

const toIso = (time: number): string => new Date(time).toISOString();

/** Creates a batch of uses. It remembers the last written minute of each id, so that a minute is written once. */
function createBatch(save: (ids: string[], minutes: number[]) => Promise<unknown>) {
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
        // Retry with the next batch, unless a later use was collected.
        for (const [id, minute] of current) if (!pending.has(id)) pending.set(id, minute);
        throw error;
      }
    },
  };
}
