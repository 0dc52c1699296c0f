import type { Database } from '../db/database.ts';
import { newId, type ActorKind } from '../entities/index.ts';
import type { EventName } from './catalogue.ts';
import { insertRows, type NewEvent } from './record.ts';
import { MINUTE_MS } from '../time.ts';

const FLUSH_MS = MINUTE_MS;
const KINDS_MAX = 1000;

/** Something that was refused, with what is the same for all that are counted as one. */
export type Denial = {
  readonly event: Extract<
    EventName,
    'access.denied' | 'sign_in.denied' | 'attempts.throttled' | 'oauth_request.denied'
  >;
  /** The code of the problem. */
  readonly reason: string;
  readonly actorKind: ActorKind;
  readonly actorId: string | null;
  readonly credentialId: string | null;
  readonly clientId: string | null;
  readonly teamId: string | null;
  readonly accountId: string | null;
  readonly address: string;
};

/**
 * Keeps what was refused without a write on the request path: equal refusals within a minute are one row with
 * their number, of at most a thousand kinds, so that a flood of them is no flood of writes. A crash loses at
 * most what was noted since the last minute.
 */
export type DenialLog = {
  note(refused: Denial, requestId: string): void;
  flush(): Promise<void>;
  /** Writes what is left and stops. */
  close(): Promise<void>;
};

export function createDenialLog(db: Database, onError: (error: unknown) => void): DenialLog {
  let pending = new Map<string, NewEvent>();
  let omitted = 0;

  async function flush(): Promise<void> {
    if (pending.size === 0 && omitted === 0) return;
    const [events, left] = [[...pending.values()], omitted];
    pending = new Map();
    omitted = 0;
    try {
      await insertRows(db, left === 0 ? events : [...events, omission(left)]);
    } catch (error) {
      // While the database is away they are counted, and not kept: what is kept is bounded.
      omitted += left + events.reduce((sum, { count }) => sum + count, 0);
      onError(error);
    }
  }

  const timer = setInterval(() => void flush(), FLUSH_MS).unref();
  return {
    note(refused, requestId) {
      const key = Object.values(refused).join('\n');
      const known = pending.get(key);
      if (known !== undefined) {
        known.count += 1;
        known.details['until'] = new Date().toISOString();
      } else if (pending.size < KINDS_MAX) {
        pending.set(key, eventOf(refused, requestId));
      } else {
        omitted += 1;
      }
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

const eventOf = ({ reason, ...refused }: Denial, requestId: string): NewEvent => ({
  id: newId('evt'),
  occurredAt: new Date(),
  ...refused,
  targetId: null,
  requestId,
  details: { reason },
  count: 1,
});

/** How many there were beside those that have rows. */
const omission = (count: number): NewEvent => ({
  id: newId('evt'),
  occurredAt: new Date(),
  event: 'denials.omitted',
  actorKind: 'system',
  actorId: null,
  credentialId: null,
  clientId: null,
  teamId: null,
  accountId: null,
  targetId: null,
  address: null,
  requestId: null,
  details: {},
  count,
});
