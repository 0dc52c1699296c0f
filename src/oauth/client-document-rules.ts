/** The URL of a client is the primary key of its row, and an index limits the length of keys. */
const CLIENT_URL_LENGTH_MAX = 2000;

/** Requests that have fetched a client document. oidc-provider fetches one that failed again for its error page. */
const fetching = new WeakSet<object>();

/** Allows one fetch per request, of a URL with a path (draft-ietf-oauth-client-id-metadata-document, section 3). */
export function isFetchAllowed(ctx: object, url: string): boolean {
  if (fetching.has(ctx) || url.length > CLIENT_URL_LENGTH_MAX || !/^https:\/\/[^/?#]+\//i.test(url)) return false;
  fetching.add(ctx);
  return true;
}
