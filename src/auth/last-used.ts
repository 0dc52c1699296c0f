import { runInBackground } from '../db/turns/request-caller.ts';
import type { Database } from '../db/database.ts';
import { command } from '../db/query.ts';
import { countKeyUses } from './key-uses.ts';
import type { OperatorPrincipal, Principal } from './principal.ts';
import { MINUTE_MS, SECOND_MS } from '../time.ts';
import { oneAtATime } from '../turns.ts';

const FLUSH_MS = 15 * SECOND_MS;

/** SQL for the minute of a use, so many seconds ago by the clock of the database, which decides what is idle. */
const minuteOf = (ago: string): string => `date_trunc('minute', now() - make_interval(secs => ${ago}))`;

// Locks rows in the order of their ids (see LOCK_ORDER), so that batches of several replicas and scope changes cannot
// deadlock.
const createUseCommand = (table: 'api_key' | 'oauth_grant' | 'operator_key') =>
  command<never>(
    `${table}_update_use`,
    `update ${table} set last_used_at = used.at
     from (
       select c.id, greatest(noted.at, c.created_at) as at
       from ${table} c
       join (select id, ${minuteOf('ago')} as at from unnest($1::text[], $2::float8[]) as sent(id, ago)) noted
         on noted.id = c.id
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
  'oauth_token_update_first_use',
  'update oauth_token set used_at = now() where token_hash = $1 and used_at is null',
);

const writeSessionUse = command<never>(
  'session_update_use',
  `update session set idle_expires_at = used.until, last_used_at = used.at,
     last_address = coalesce(used.address, session.last_address)
   from (
     select s.id, noted.until, noted.at, noted.address
     from session s
     join (
       select id, ${minuteOf('ago')} as at, ${minuteOf('ago')} + make_interval(days => $4::int) as until, address
       from unnest($1::text[], $2::float8[], $3::text[]) as sent(id, ago, address)
     ) noted on noted.id = s.id
     where s.idle_expires_at < noted.until
     order by s.id
     for no key update of s
   ) used
   where session.id = used.id`,
);

/**
 * Updates `lastUsedAt` of keys, grants and sessions, rounded to minutes but not before its creation, and the idle
 * expiry of sessions, and counts the requests of API keys by day. Uses are collected in memory and written in batches,
 * so that requests do not write. A crash loses the uses since the last batch.
 */
export type Usage = {
  /**
   * The use of a first-party token is one of its session, too.
   * @param address of the client; null if it is not the one that holds the credential
   */
  note(used: Used, address: string | null): void;
  /**
   * Writes the first use of a refreshed access token without delaying the request. Its refresh can no longer be
   * repeated.
   */
  noteFirstUse(tokenHash: Buffer): void;
  flush(): Promise<void>;
  /** Writes the remaining uses and stops. */
  close(): Promise<void>;
};

type Used = Pick<Principal | OperatorPrincipal, 'kind' | 'credentialId'> & Partial<Pick<Principal, 'sessionId'>>;

export function trackUsage(db: Database, sessionIdleDays: number, onError: (error: unknown) => void): Usage {
  const keys = createBatch((ids, uses) => db.run(writeKeyUse, [ids, uses.map(toSecondsAgo)]));
  const grants = createBatch((ids, uses) => db.run(writeGrantUse, [ids, uses.map(toSecondsAgo)]));
  const operatorKeys = createBatch((ids, uses) => db.run(writeOperatorKeyUse, [ids, uses.map(toSecondsAgo)]));
  const sessions = createBatch((ids, uses) => {
    const addresses = uses.map(({ address }) => address);
    return db.run(writeSessionUse, [ids, uses.map(toSecondsAgo), addresses, sessionIdleDays]);
  });
  const keyDays = countKeyUses(db);

  const flush = oneAtATime(async () => {
    // One after another: while rows are locked, they do not take all places of the work without a caller.
    for (const batch of [keys, grants, operatorKeys, sessions, keyDays]) await batch.write().catch(onError);
    await Promise.all(firstUses.values());
  });
  const firstUses = new Map<string, Promise<unknown>>();
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();

  return {
    note({ kind, credentialId, sessionId }, address) {
      const at = performance.now();
      const uses = { 'api-key': keys, 'oauth-grant': grants, 'operator-key': operatorKeys, session: sessions }[kind];
      uses.note(credentialId, { at, address });
      // The address is that of the application.
      if (sessionId) sessions.note(sessionId, { at, address: null });
      if (kind === 'api-key') keyDays.note(credentialId, address);
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

/** `at` is of `performance.now()`: how long ago it was does not depend on the clock of this machine. */
type Use = { readonly at: number; readonly address: string | null };

const toSecondsAgo = ({ at }: Use): number => (performance.now() - at) / SECOND_MS;
const toMinute = (use: Use | undefined): number | undefined =>
  use && Math.floor((performance.timeOrigin + use.at) / MINUTE_MS);

/** Creates a batch of uses. It remembers the last written minute of each id, so that a minute is written once. */
function createBatch(save: (ids: string[], uses: Use[]) => Promise<unknown>) {
  let pending = new Map<string, Use>();
  let written = new Map<string, Use>();

  return {
    note(id: string, use: Use): void {
      const isNoted = [pending, written].some((uses) => toMinute(uses.get(id)) === toMinute(use));
      if (!isNoted) pending.set(id, use);
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
        for (const [id, use] of current) if (!pending.has(id)) pending.set(id, use);
        throw error;
      }
    },
  };
}
