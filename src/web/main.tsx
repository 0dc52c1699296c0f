import { RosterProvider } from '#client/react';
import { DirectionProvider, MantineProvider } from '@mantine/core';
import { MutationCache, QueryCache, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, type AnyRoute } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Notices } from './components/notices.tsx';
import { Offline } from './components/offline.tsx';
import { ProofPrompt } from './components/proof-prompt.tsx';
import { SignInPrompt } from './components/sign-in-prompt.tsx';
import { direction, followLanguage } from './messages/language.ts';
import { followLocale } from './messages/locale.ts';
import { forgetEntered } from './kept.ts';
import { createAppRouter } from './router.ts';
import { me } from './session.ts';
import { colorSchemes, theme } from './theme.ts';
import './theme.css';
import { createQueryClient, isSignedOut, setAccount, trpc, type Outputs } from './trpc.ts';

const queries = createQueryClient({
  queryCache: new QueryCache({ onError: leaveIfSignedOut }),
  mutationCache: new MutationCache({ onError: leaveIfSignedOut }),
});
setAccount(() => queries.getQueryData(me().queryKey)?.id);
queries.getQueryCache().subscribe(({ query: { queryKey, state } }) => {
  if (queryKey[1] !== me().queryKey[1] || state.data === undefined) return;
  const { preferredLocale } = state.data as Outputs['getMe'];
  followLocale(preferredLocale);
  followLanguage(preferredLocale);
});
const router = createAppRouter(queries);

/** Leaves once a call finds that the session was revoked, has expired or was signed out in another tab. */
function leaveIfSignedOut(error: unknown): void {
  if (isSignedOut(error)) leave();
}

/** Goes to the sign-in page, and from there back. */
function leave(): void {
  if (queries.getQueryData(me().queryKey) === undefined) return;
  queries.clear();
  forgetEntered();
  const { pathname, search } = router.history.location; // after the back button, that of the page it leads to
  void router.navigate({ to: '/sign-in', search: { next: pathname + search, ended: 'true' } });
}

// There is a session cookie: the scripts of the page load and run while the API says whose it is. Preloaded by the HTML,
// they would delay this one, as browsers share the line equally over HTTP/1.1.
if (document.querySelector('meta[name="roster-session"]') !== null) {
  for (const { routeId } of router.matchRoutes(router.latestLocation)) {
    const { component } = (router.routesById as Record<string, AnyRoute>)[routeId]?.options ?? {};
    void component?.preload?.();
  }
}

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no root.');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colorSchemes}
      // Both would add style elements, which the Content-Security-Policy blocks. theme.css has their rules.
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <DirectionProvider initialDirection={direction}>
        <QueryClientProvider client={queries}>
          <RosterProvider client={trpc}>
            <Notices>
              <Offline />
              <RouterProvider router={router} />
              <ProofPrompt />
              <SignInPrompt onLeave={leave} />
            </Notices>
          </RosterProvider>
        </QueryClientProvider>
      </DirectionProvider>
    </MantineProvider>
  </StrictMode>,
);
