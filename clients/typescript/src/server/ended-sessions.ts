/** Remembers which sessions were ended at Roster, until the last access token of each has expired. */
export type EndedSessions = {
  /** @param until milliseconds since the epoch */
  add(sessionId: string, until: number): void | Promise<void>;
  has(sessionId: string): boolean | Promise<boolean>;
};

const ENTRIES_MAX = 100_000;

/** Remembers them in this process: for applications that run as one. */
export function memoryEndedSessions(): EndedSessions {
  const ended = new Map<string, number>();
  return {
    add(sessionId, until) {
      ended.set(sessionId, until);
      for (const [id, end] of ended) {
        if (end > Date.now() && ended.size <= ENTRIES_MAX) break; // entries live equally long, so the oldest are first
        ended.delete(id);
      }
    },
    has: (sessionId) => (ended.get(sessionId) ?? 0) > Date.now(),
  };
}

/** A pool or client of `pg`, or anything with the same method. */
export type PostgresQuery = { query(text: string, values: unknown[]): Promise<{ rows: unknown[] }> };

/**
 * Remembers them in a table of PostgreSQL, which you create:
 * `create table roster_ended_session (session_id text primary key, until timestamptz not null)`.
 */
export const postgresEndedSessions = (db: PostgresQuery): EndedSessions => ({
  async add(sessionId, until) {
    await db.query('delete from roster_ended_session where until < now()', []);
    await db.query(
      `insert into roster_ended_session (session_id, until) values ($1, $2)
       on conflict (session_id) do update set until = greatest(roster_ended_session.until, excluded.until)`,
      [sessionId, new Date(until)],
    );
  },
  async has(sessionId) {
    const { rows } = await db.query('select from roster_ended_session where session_id = $1 and until > now()', [
      sessionId,
    ]);
    return rows.length > 0;
  },
});

/** A client of `ioredis` or of `redis`. */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(args: string[]): Promise<unknown> };

/** Remembers them in Redis, in keys that begin with `roster:ended:`. */
export function redisEndedSessions(client: RedisClient): EndedSessions {
  const send = (command: string, ...args: string[]) =>
    'call' in client ? client.call(command, ...args) : client.sendCommand([command, ...args]);
  const keyOf = (sessionId: string) => `roster:ended:${sessionId}`;
  return {
    async add(sessionId, until) {
      await send('SET', keyOf(sessionId), '1', 'PXAT', String(until));
    },
    has: async (sessionId) => Number(await send('EXISTS', keyOf(sessionId))) === 1, // some clients read texts
  };
}
