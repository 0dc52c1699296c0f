const LENGTH_MAX = 2000;

/**
 * Returns the path, query and fragment of a return address on the application itself; `/` for any other, so that a link to
 * the sign-in cannot send users to another site.
 */
export function toReturnPath(returnTo: string | null | undefined, appUrl: URL): string {
  // Browsers read `\` as `/`, and ignore control characters.
  if (returnTo === null || returnTo === undefined || returnTo.length > LENGTH_MAX || /[\\\p{Cc}]/u.test(returnTo))
    return '/';
  const url = URL.canParse(returnTo, appUrl.href) ? new URL(returnTo, appUrl.href) : undefined;
  // The origin of a `blob:` is that of the URL in it.
  return url?.origin === appUrl.origin && url.protocol === appUrl.protocol
    ? url.pathname.replace(/^\/{2,}/, '/') + url.search + url.hash
    : '/';
}
