import type { Database } from '../db/database.ts';
import { runInBackground } from '../db/turns/request-caller.ts';
import { HOUR_MS, MINUTE_MS } from '../time.ts';
import type { RequestIds } from './request-ids.ts';
import { insertCollected, toEvent, type NewEvent } from './record.ts';
import { oneAtATime } from '../turns.ts';

const FLUSH_MS = MINUTE_MS;
/** How long equal calls are counted as one event. */
const PERIOD_MS = HOUR_MS;
/** The most kinds of calls in memory. Beyond it, only operations are counted, without the address. */
const KINDS_MAX = 10_000;
const ROWS_AT_ONCE = 1000;

/** A call by an operator key that changes nothing. Equal calls are counted as one event. */
export type OperatorRead = {
  readonly credentialId: string;
  /** Null if calls from several addresses are counted together. */
  readonly address: string | null;
  /** The id of the operation, or whose data the call returned. */
  readonly of: { readonly operation: string } | { readonly accountId: string } | { readonly teamId: string };
};

/**
 * Records the reads of operator keys without a write on the request path. The first call of a kind is written within a
 * minute; equal calls of the following hour are one more event with their number. A crash loses at most those.
 */
export type OperatorReadLog = {
  note(read: OperatorRead, requestIds: RequestIds): void;
  flush(): Promise<void>;
  /** Writes the pending reads and stops the timer. */
  close(): Promise<void>;
};

type Entry = {
  readonly read: OperatorRead;
  /** Those of the first call that is counted. */
  requestIds: RequestIds;
  count: number;
  since: number;
  until: number;
  /** When calls of this kind were written last. */
  writtenAt: number | null;
};

export function createOperatorReadLog(
  db: Database,
  onError: (error: unknown) => void,
  kindsMax = KINDS_MAX,
): OperatorReadLog {
  const entries = new Map<string, Entry>();

  /** @param isLast whether to write also what is counted until its hour is over */
  const write = oneAtATime(async (isLast: boolean) => {
    const now = Date.now();
    const due: Entry[] = [];
    for (const [key, entry] of entries) {
      const isOver = entry.writtenAt === null || now - entry.writtenAt >= PERIOD_MS;
      if (entry.count > 0 && (isOver || isLast)) due.push(entry);
      else if (isOver) entries.delete(key);
    }
    for (let from = 0; from < due.length; from += ROWS_AT_ONCE)
      await save(due.slice(from, from + ROWS_AT_ONCE), now).catch(onError);
  });

  async function save(due: readonly Entry[], now: number): Promise<void> {
    const events = due.map(toReadEvent);
    const before = due.map((entry) => ({ ...entry }));
    for (const entry of due) Object.assign(entry, { count: 0, writtenAt: now });
    try {
      await runInBackground(() => insertCollected(db, events));
    } catch (error) {
      // Count them with the next batch.
      for (const [i, entry] of due.entries()) {
        const { count = 0, since = now, writtenAt = null, requestIds = entry.requestIds } = before[i] ?? {};
        Object.assign(entry, { count: entry.count + count, since, writtenAt, requestIds });
      }
      throw error;
    }
  }

  const flush = () => write(false);
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();
  return {
    note(read, requestIds) {
      const { credentialId, of } = read;
      const kind = `${credentialId} ${'operation' in of ? of.operation : 'accountId' in of ? of.accountId : of.teamId}`;
      const key = `${kind} ${read.address}`;
      const known = entries.get(key) ?? (entries.size >= kindsMax ? entries.get(kind) : undefined);
      const now = Date.now();
      if (known !== undefined) {
        if (known.count === 0) Object.assign(known, { since: now, requestIds });
        known.count += 1;
        known.until = now;
        return;
      }
      const entry = { read, requestIds, count: 1, since: now, until: now, writtenAt: null };
      if (entries.size < kindsMax) entries.set(key, entry);
      else if ('operation' in of) entries.set(kind, { ...entry, read: { ...read, address: null } });
    },
    flush,
    async close() {
      clearInterval(timer);
      await write(true);
    },
  };
}

/** Creates the event of counted calls. It occurs when it is written, because the chain and exports expect recent events. */
function toReadEvent({ read: { credentialId, address, of }, requestIds, count, since, until }: Entry): NewEvent {
  const [event, subject] =
    'operation' in of
      ? (['operator_key.used', {}] as const)
      : (['accountId' in of ? 'operator.account_viewed' : 'operator.team_viewed', of] as const);
  return {
    ...toEvent(event),
    ...subject,
    actorKind: 'operator_key',
    actorId: null,
    credentialId,
    address,
    requestId: requestIds.requestId,
    clientRequestId: requestIds.clientRequestId,
    count,
    details: {
      ...('operation' in of && of),
      since: new Date(since).toISOString(),
      until: new Date(until).toISOString(),
    },
  };
}
