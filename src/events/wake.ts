import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../db/database.ts';

type Listener = () => void;

// Keyed by driver, which all entity managers of a database share.
const recorded = new WeakMap<object, Set<Listener>>();
const numbered = new WeakMap<object, Set<Listener>>();

function listen(listeners: WeakMap<object, Set<Listener>>, key: object, listener: Listener): () => void {
  const all = listeners.get(key) ?? new Set();
  listeners.set(key, all.add(listener));
  return () => void all.delete(listener);
}

const emit = (listeners: WeakMap<object, Set<Listener>>, key: object): void => {
  for (const listener of listeners.get(key) ?? []) listener();
};

/** Calls `listener` after each commit of this process that recorded an event. @returns a function that stops it */
export const onEventRecorded = (db: Pick<Database, 'orm'>, listener: Listener) =>
  listen(recorded, db.orm.em.getDriver(), listener);

/** Reports a committed event. */
export const emitRecorded = (em: EntityManager): void => emit(recorded, em.getDriver());

/**
 * Calls `listener` when there can be events with new positions, also if another process numbered them. It can be
 * called without any, and at the latest after a second if a notification was lost.
 * @returns a function that stops it
 */
export const onEventsNumbered = (db: Pick<Database, 'orm'>, listener: Listener) =>
  listen(numbered, db.orm.em.getDriver(), listener);

/** Reports that events can have got their positions. */
export const emitNumbered = (db: Pick<Database, 'orm'>): void => emit(numbered, db.orm.em.getDriver());
