import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router';
import { CardLayout, WideCardLayout } from '../components/layouts.tsx';
import { LayoutFailure, NotFound } from '../components/route-failure.tsx';
import { RootNotFound } from '../frame/root-not-found.tsx';
import { noticesQuery } from '../page-queries.ts';
import { findLoginHint, me } from '../session.ts';
import { readTeam } from '../team-reference.ts';
import { isSignedOut, query } from '../trpc.ts';
import { leaveWayOfApplication } from '../way-of-application.ts';
import { lazyPage } from './lazy-page.ts';
import { reads } from './reads.ts';

export const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  staticData: { access: 'anyone' },
  component: Outlet,
  errorComponent: LayoutFailure,
  notFoundComponent: RootNotFound,
});

/** Pages that need no session. */
export const publicPages = createRoute({
  getParentRoute: () => root,
  id: 'public',
  staticData: { access: 'anyone' },
  component: CardLayout,
  errorComponent: LayoutFailure,
});

type Entry = {
  readonly context: { readonly queries: QueryClient };
  readonly location: {
    readonly href: string;
    readonly pathname: string;
    readonly search: Readonly<Record<string, unknown>>;
  };
  readonly params: { readonly teamId?: string };
};

/** Redirects to the sign-in page, and from there back, unless the user is signed in. */
async function requireSession({ context: { queries }, location, params: { teamId } }: Entry): Promise<void> {
  // Operators read a team in their own way, which is recorded.
  if (teamId !== undefined && location.pathname.startsWith('/teams/')) readTeam(queries, teamId);
  try {
    const { emailVerified } = await queries.ensureQueryData(me());
    // A pending sign-up has a profile but no account, so there is nothing else to show.
    if (emailVerified === null && (await queries.fetchQuery(query('auth.pendingSignUp'))) !== null) {
      // eslint-disable-next-line typescript/only-throw-error -- how the router redirects
      throw redirect({ to: '/check-email' });
    }
  } catch (error) {
    if (!isSignedOut(error)) throw error;
    // An application wants its user to sign up (`prompt=create`).
    const isNew = location.pathname.startsWith('/oauth/consent/') && location.search['prompt'] === 'create';
    const hint = isNew ? findLoginHint(location.href) : '';
    const next = location.pathname + (hint === '' ? '' : `?${new URLSearchParams({ login_hint: hint }).toString()}`);
    // eslint-disable-next-line typescript/only-throw-error -- how the router redirects
    if (isNew) throw redirect({ to: '/sign-up', search: { next } });
    // eslint-disable-next-line typescript/only-throw-error -- how the router redirects
    throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } });
  }
}

/** Pages for signed-in users. Their frame is no part of the first page, which is the sign-in. */
export const consolePages = createRoute({
  getParentRoute: () => root,
  id: 'console',
  staticData: { access: 'session' },
  component: lazyPage(() => import('../frame/console-layout.tsx'), 'ConsoleLayout'),
  errorComponent: LayoutFailure,
  notFoundComponent: NotFound,
  beforeLoad(entry) {
    leaveWayOfApplication(entry.location.href);
    return requireSession(entry);
  },
  loader: reads(() => [noticesQuery()]),
});

/** Pages that ask a signed-in user for one decision, without the navigation of the console. */
export const decisionPages = createRoute({
  getParentRoute: () => root,
  id: 'decisions',
  staticData: { access: 'session' },
  component: WideCardLayout,
  errorComponent: LayoutFailure,
  beforeLoad: requireSession,
});
