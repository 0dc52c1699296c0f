/** Pages that lead back to the authorization request of an application. */
const PAGES = new Set(['/sign-in', '/sign-up', '/check-email', '/verify-email', '/email-sign-in', '/forgot-password']);

/**
 * Whether a page is on the way from an authorization request to its consent. An application may have opened it in a
 * window of its own, which it waits for, so such pages have no `Cross-Origin-Opener-Policy`.
 */
export function isOnWayOfApplication(target: string): boolean {
  const [path = '', query = ''] = target.split('?', 2);
  if (/^\/oauth\/(?:authorize|consent)(?:\/|$)/.test(path)) return true;
  return PAGES.has(path) && new URLSearchParams(query).get('next')?.startsWith('/oauth/') === true;
}
