import type { EventFields } from '../../events/event.ts';

type Described = { readonly name: string; readonly redirectUris: readonly string[] };

/** The details of an event have at most 2000 characters. */
const LISTED_LENGTH_MAX = 1700;
const CUT_LENGTH = 36;

/**
 * Returns what an event says about a change of a client: its redirect URIs before and after. Null if there is none.
 * @param also the names of further fields that changed
 */
export function describeClientChange(
  before: Described,
  after: Described,
  also: readonly string[] = [],
): Pick<EventFields, 'changed' | 'redirectUrisBefore' | 'redirectUris'> | null {
  const isMoved = JSON.stringify(before.redirectUris) !== JSON.stringify(after.redirectUris);
  const changed = [...(before.name === after.name ? [] : ['name']), ...(isMoved ? ['redirectUris'] : []), ...also];
  if (changed.length === 0) return null;
  if (!isMoved) return { changed };
  const isLong = JSON.stringify([before.redirectUris, after.redirectUris]).length > LISTED_LENGTH_MAX;
  const list = (uris: readonly string[]) =>
    isLong ? uris.map((uri) => (uri.length > CUT_LENGTH ? `${uri.slice(0, CUT_LENGTH)}…` : uri)) : [...uris];
  return { changed, redirectUrisBefore: list(before.redirectUris), redirectUris: list(after.redirectUris) };
}
