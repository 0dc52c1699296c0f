import { redirect } from '@tanstack/react-router';

/** Whether this document was loaded on the way of an application, where the window that opened it can reach it. */
const isOnWay =
  window.location.pathname.startsWith('/oauth/') ||
  new URLSearchParams(window.location.search).get('next')?.startsWith('/oauth/') === true;

/** Loads the console in a document of its own, whose policy keeps other windows out. @throws a redirect */
export function leaveWayOfApplication(href: string): void {
  // eslint-disable-next-line typescript/only-throw-error -- how the router redirects
  if (isOnWay) throw redirect({ href, reloadDocument: true });
}
