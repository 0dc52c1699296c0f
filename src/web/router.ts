import { hashKey, type QueryClient } from '@tanstack/react-query';
import { createRouter, stringifySearchWith } from '@tanstack/react-router';
import { LoadingPage } from './components/page.tsx';
import { NotFound, PageFailure } from './components/route-failure.tsx';
import { consoleRoutes, decisionRoutes } from './routes/console.ts';
import { root } from './routes/layouts.tsx';
import { me } from './session.ts';
import { publicRoutes } from './routes/public.ts';

const routeTree = root.addChildren([publicRoutes, consoleRoutes, decisionRoutes]);

export function createAppRouter(queries: QueryClient) {
  const router = createRouter({
    routeTree,
    // Every parameter is a text: who searches for `1e5` or `true` means these characters.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: stringifySearchWith(JSON.stringify),
    context: { queries },
    defaultPreload: 'intent',
    defaultPendingMs: 0,
    defaultPendingMinMs: 0,
    defaultPendingComponent: LoadingPage,
    defaultErrorComponent: PageFailure,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
  });
  // A page shows what is true when it is opened, not what an earlier page read. Only parts of one page share reads.
  router.subscribe('onBeforeNavigate', ({ fromLocation, pathChanged }) => {
    if (fromLocation === undefined || !pathChanged) return;
    const account = hashKey(me().queryKey);
    void queries.invalidateQueries({ refetchType: 'none', predicate: ({ queryHash }) => queryHash !== account });
  });
  // Focus the heading, or the section that the URL names, so that screen readers announce what is new.
  router.subscribe('onRendered', ({ fromLocation, toLocation: { hash }, pathChanged, hashChanged }) => {
    const section = hash === '' ? null : document.querySelector<HTMLElement>(`section[id="${CSS.escape(hash)}"]`);
    if (section !== null && (pathChanged || hashChanged || fromLocation === undefined))
      section.focus({ preventScroll: true });
    else if (fromLocation !== undefined && pathChanged) focusHeading();
  });
  return router;
}

let waiting: MutationObserver | undefined;

/** Focuses the heading of the page, as soon as it has one: pages of a team have none until the team was read. */
function focusHeading(): void {
  waiting?.disconnect();
  if (tryHeading()) return;
  waiting = new MutationObserver(() => {
    const busy = document.activeElement?.closest('[role="dialog"], [role="menu"], input, textarea') ?? null;
    if (busy !== null || tryHeading()) waiting?.disconnect();
  });
  waiting.observe(document.body, { childList: true, subtree: true });
}

function tryHeading(): boolean {
  const heading = document.querySelector('h1');
  heading?.focus({ preventScroll: true });
  return heading !== null;
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
