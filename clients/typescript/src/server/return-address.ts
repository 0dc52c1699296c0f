const LENGTH_MAX = 2000;

/**
 * Returns the path, query and fragment of a return address on the application itself; `/` for any other, so that a link to
 * the sign-in cannot send users to another site.
 */
export function toReturnPath(returnTo: string | null | undefined, appUrl: URL): string {
  // Browsers read `\` as `/`, and ignore control characters.
  if (returnTo === null || returnTo === undefined || /[\\\p{Cc}]/u.test(returnTo)) return '/';
  const url = URL.canParse(returnTo, appUrl.href) ? new URL(returnTo, appUrl.href) : undefined;
  // The origin of a `blob:` is that of the URL in it.
  if (url?.origin !== appUrl.origin || url.protocol !== appUrl.protocol) return '/';
  const path = pathOf(url);
  return path.length > LENGTH_MAX ? '/' : path;
}

/** Returns the path, query and fragment of a URL, which browsers read as those of the present origin. */
export const pathOf = ({ pathname, search, hash }: URL): string => pathname.replace(/^\/{2,}/, '/') + search + hash;
