import { unavailable } from './errors.ts';
import { createBreaker } from './patience.ts';

/** The statuses with which Roster, or what is before it, answers nobody for a while. */
const AWAY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Returns how Roster is asked for tokens and keys.
 * @throws RosterAccessError (503) if it does not answer, which says nothing about the user
 */
export function createReach(send: typeof fetch): typeof fetch {
  const ask = createBreaker(unavailable);
  return async (input, init) => {
    const response = await ask(async () => {
      const answered = await send(input, init);
      if (AWAY.has(answered.status)) throw new Error(`HTTP ${answered.status}`);
      return answered;
    });
    if (response.status >= 500) throw unavailable(new Error(`HTTP ${response.status}`)); // may be of this user alone
    return response;
  };
}

/** Sends what is for Roster to its internal address, if it has one. */
export function reachAt(send: typeof fetch, baseUrl: URL, internalUrl: string | undefined): typeof fetch {
  if (internalUrl === undefined) return send;
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== baseUrl.origin) return send(input, init);
    const internal = new URL(url.pathname + url.search, internalUrl);
    return send(input instanceof Request ? new Request(internal, input) : internal, init);
  };
}
