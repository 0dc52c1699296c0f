import type { Caller } from './caller.ts';
import { ListPlaces, type PlaceLimits } from './list-places.ts';

/** Pages are lists of bounded length, which are read at once. Long lists are read in parts. */
export type ListKind = 'page' | 'long';

type Held = { readonly kind: ListKind; readonly place: Promise<() => void> };

/**
 * The places of requests that read lists. Pages have places of their own, because long lists keep theirs for seconds.
 * A request has one place at a time, so that two cannot wait for each other.
 */
export class RequestPlaces {
  readonly #places: Readonly<Record<ListKind, ListPlaces>>;
  readonly #held = new WeakMap<Caller, Held>();

  constructor(limits: PlaceLimits) {
    this.#places = { page: new ListPlaces(limits), long: new ListPlaces(limits) };
  }

  /** How many requests have a place or wait for one. */
  get length(): number {
    return this.#places.page.length + this.#places.long.length;
  }

  /**
   * Waits for a place until the request is over. One for long lists is enough for pages; one for pages is given up first.
   * @throws BusyError, CallerGoneError
   */
  async take(caller: Caller, kind: ListKind): Promise<void> {
    let held = this.#held.get(caller);
    if (held === undefined || (held.kind === 'page' && kind === 'long')) {
      held = { kind, place: this.#enter(caller, kind, held) };
      this.#held.set(caller, held);
    }
    await held.place;
  }

  /** Gives up the place of a request, until it takes the next one. */
  async giveUp(caller: Caller): Promise<void> {
    const held = this.#held.get(caller);
    this.#held.delete(caller);
    const leave = await held?.place;
    leave?.();
  }

  /** @returns a function that gives up the place, once */
  async #enter(caller: Caller, kind: ListKind, before: Held | undefined): Promise<() => void> {
    const leaveBefore = await before?.place;
    leaveBefore?.();
    const giveUp = await this.#places[kind].enter(caller);
    let isTaken = true;
    const leave = () => {
      caller.over.removeEventListener('abort', leave);
      if (isTaken) giveUp();
      isTaken = false;
    };
    if (caller.over.aborted) leave();
    else caller.over.addEventListener('abort', leave);
    return leave;
  }
}
