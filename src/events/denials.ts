import type { Database } from '../db/database.ts';
import type { ActorKind } from '../entities/index.ts';
import { currentActor } from './actor.ts';
import type { EventName } from './catalogue.ts';
import type { RequestIds } from './request-ids.ts';
import { insertCollected, toEvent, type NewEvent } from './record.ts';
import { MINUTE_MS } from '../time.ts';
import { oneAtATime } from '../turns.ts';

const FLUSH_MS = MINUTE_MS;
const KINDS_MAX = 1000;

/** A denied request. Denials with equal fields are counted as one event. */
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
  readonly address: string | null;
};

/** Creates a denial of the current actor. Its target is the actor's own account, unless `overrides` name another. */
export function denied(event: Denial['event'], reason: string, overrides: Partial<Denial> = {}): Denial {
  const { actorKind, actorId, credentialId, clientId = null, address } = currentActor();
  const target = { clientId, teamId: null, accountId: actorId };
  return { event, reason, actorKind, actorId, credentialId, ...target, address, ...overrides };
}

/**
 * Records denials without a write on the request path. Equal denials within a minute become one row with a count, and
 * at most a thousand rows are written, so that a flood of requests cannot cause a flood of writes. A crash loses at
 * most the denials of the last minute.
 */
export type DenialLog = {
  note(denial: Denial, requestIds: RequestIds): void;
  flush(): Promise<void>;
  /** Writes the pending denials and stops the timer. */
  close(): Promise<void>;
};

export function createDenialLog(db: Database, onError: (error: unknown) => void): DenialLog {
  let pending = new Map<string, NewEvent>();
  let omitted = 0;

  const flush = oneAtATime(async () => {
    if (pending.size === 0 && omitted === 0) return;
    const [events, left] = [[...pending.values()], omitted];
    pending = new Map();
    omitted = 0;
    try {
      await insertCollected(db, left === 0 ? events : [...events, createOmission(left)]);
    } catch (error) {
      // If the database is unavailable, keep only the count, to bound memory.
      omitted += left + events.reduce((sum, { count }) => sum + count, 0);
      onError(error);
    }
  });

  const timer = setInterval(() => void flush(), FLUSH_MS).unref();
  return {
    note(denial, requestIds) {
      const key = Object.values(denial).join('\n');
      const known = pending.get(key);
      if (known !== undefined) {
        known.count += 1;
        known.details['until'] = new Date().toISOString();
      } else if (pending.size < KINDS_MAX) {
        pending.set(key, toDenialEvent(denial, requestIds));
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

const toDenialEvent = ({ reason, ...denial }: Denial, { requestId, clientRequestId }: RequestIds): NewEvent => ({
  ...toEvent(denial.event),
  ...denial,
  requestId,
  clientRequestId,
  details: { reason },
});

/** Creates the event that counts denials without a row of their own. */
const createOmission = (count: number): NewEvent => ({ ...toEvent('denials.omitted'), count });
