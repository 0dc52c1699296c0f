import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { ConsoleLayout, DeciderLayout, VisitorLayout } from './components/layouts.tsx';
import { LoadingPage } from './components/page.tsx';
import { NotFound, RouteFailure } from './components/route-failure.tsx';
import { me } from './session.ts';
import { isSignedOut, query } from './trpc.ts';

const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet, notFoundComponent: NotFound });

/** Pages that need no session, as a centered card. */
const visitors = createRoute({ getParentRoute: () => root, id: 'visitors', component: VisitorLayout });

type Entry = { readonly context: { readonly queries: QueryClient }; readonly location: { readonly href: string } };

/** Redirects to the sign-in page, and from there back, unless the user is signed in. */
async function requireSession({ context: { queries }, location }: Entry): Promise<void> {
  try {
    const { emailVerified } = await queries.ensureQueryData(me());
    // A pending sign-up has a profile but no account, so there is nothing else to show.
    if (emailVerified === null && (await queries.fetchQuery(query('auth.pendingSignUp'))) !== null) {
      // eslint-disable-next-line typescript/only-throw-error -- how the router is told
      throw redirect({ to: '/check-email' });
    }
  } catch (error) {
    if (!isSignedOut(error)) throw error;
    // eslint-disable-next-line typescript/only-throw-error -- how the router is told
    throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } });
  }
}

const people = createRoute({
  getParentRoute: () => root,
  id: 'people',
  component: ConsoleLayout,
  beforeLoad: requireSession,
});

/** Pages that ask a signed-in user for one decision, without the navigation of the console. */
const deciders = createRoute({
  getParentRoute: () => root,
  id: 'deciders',
  component: DeciderLayout,
  beforeLoad: requireSession,
});

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The token of an emailed link. */
const withToken = ({ token }: Record<string, unknown>): { token?: string } =>
  text(token) === undefined ? {} : { token: String(token) };

const signIn = createRoute({
  getParentRoute: () => visitors,
  path: '/sign-in',
  validateSearch: ({ next }: Record<string, unknown>): { next?: string } =>
    text(next) === undefined ? {} : { next: String(next) },
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignIn'),
});

const signUp = createRoute({
  getParentRoute: () => visitors,
  path: '/sign-up',
  validateSearch: ({ invitation }: Record<string, unknown>): { invitation?: string } =>
    text(invitation) === undefined ? {} : { invitation: String(invitation) },
  component: lazyRouteComponent(() => import('./pages/sign-up.tsx'), 'SignUp'),
});

const forgotPassword = createRoute({
  getParentRoute: () => visitors,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./pages/forgot-password.tsx'), 'ForgotPassword'),
});

const resetPassword = createRoute({
  getParentRoute: () => visitors,
  path: '/reset-password',
  validateSearch: withToken,
  component: lazyRouteComponent(() => import('./pages/reset-password.tsx'), 'ResetPassword'),
});

const verifyEmail = createRoute({
  getParentRoute: () => visitors,
  path: '/verify-email',
  validateSearch: withToken,
  component: lazyRouteComponent(() => import('./pages/verify-email.tsx'), 'VerifyEmail'),
});

const emailSignIn = createRoute({
  getParentRoute: () => visitors,
  path: '/email-sign-in',
  component: lazyRouteComponent(() => import('./pages/email-sign-in.tsx'), 'EmailSignIn'),
});

const signInLink = createRoute({
  getParentRoute: () => visitors,
  path: '/sign-in-link',
  validateSearch: withToken,
  component: lazyRouteComponent(() => import('./pages/sign-in-link.tsx'), 'SignInLink'),
});

const checkEmail = createRoute({
  getParentRoute: () => visitors,
  path: '/check-email',
  component: lazyRouteComponent(() => import('./pages/check-email.tsx'), 'CheckEmail'),
});

const confirmEmail = createRoute({
  getParentRoute: () => visitors,
  path: '/confirm-email',
  validateSearch: withToken,
  component: lazyRouteComponent(() => import('./pages/confirm-email.tsx'), 'ConfirmEmail'),
});

const invitation = createRoute({
  getParentRoute: () => visitors,
  path: '/invitation',
  validateSearch: withToken,
  component: lazyRouteComponent(() => import('./pages/invitation.tsx'), 'InvitationPage'),
});

const home = createRoute({
  getParentRoute: () => people,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home.tsx'), 'Home'),
});

const account = createRoute({
  getParentRoute: () => people,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account.tsx'), 'AccountPage'),
});

const developer = createRoute({
  getParentRoute: () => people,
  path: '/developer',
  component: lazyRouteComponent(() => import('./pages/developer.tsx'), 'DeveloperPage'),
});

const apiKeys = createRoute({
  getParentRoute: () => people,
  path: '/api-keys',
  component: lazyRouteComponent(() => import('./pages/api-keys.tsx'), 'ApiKeysPage'),
});

const team = createRoute({
  getParentRoute: () => people,
  path: '/teams/$teamId',
  component: lazyRouteComponent(() => import('./pages/team/team-layout.tsx'), 'TeamLayout'),
});

const teamPages = [
  createRoute({
    getParentRoute: () => team,
    path: '/',
    component: lazyRouteComponent(() => import('./pages/team/overview.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/members',
    component: lazyRouteComponent(() => import('./pages/team/members.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/invitations',
    component: lazyRouteComponent(() => import('./pages/team/invitations.tsx'), 'InvitationsPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/roles',
    component: lazyRouteComponent(() => import('./pages/team/roles.tsx'), 'RolesPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/api-keys',
    component: lazyRouteComponent(() => import('./pages/team/api-keys.tsx'), 'TeamApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/billing',
    component: lazyRouteComponent(() => import('./pages/team/billing.tsx'), 'BillingPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/audit',
    component: lazyRouteComponent(() => import('./pages/team/audit.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/settings',
    component: lazyRouteComponent(() => import('./pages/team/settings.tsx'), 'SettingsPage'),
  }),
] as const;

const operator = createRoute({
  getParentRoute: () => people,
  path: '/operator',
  validateSearch: ({ find }: Record<string, unknown>): { find?: string } =>
    text(find) === undefined ? {} : { find: String(find) },
  component: lazyRouteComponent(() => import('./pages/operator.tsx'), 'OperatorPage'),
});

const operatorAccount = createRoute({
  getParentRoute: () => people,
  path: '/operator/accounts/$accountId',
  component: lazyRouteComponent(() => import('./pages/operator/account.tsx'), 'OperatorAccountPage'),
});

const operatorTeam = createRoute({
  getParentRoute: () => people,
  path: '/operator/teams/$teamId',
  component: lazyRouteComponent(() => import('./pages/operator/team.tsx'), 'OperatorTeamPage'),
});

const consent = createRoute({
  getParentRoute: () => deciders,
  path: '/oauth/consent/$id',
  component: lazyRouteComponent(() => import('./pages/consent.tsx'), 'ConsentPage'),
});

const tree = root.addChildren([
  visitors.addChildren([
    signIn,
    signUp,
    emailSignIn,
    signInLink,
    checkEmail,
    forgotPassword,
    resetPassword,
    verifyEmail,
    confirmEmail,
    invitation,
  ]),
  people.addChildren([
    home,
    team.addChildren(teamPages),
    apiKeys,
    account,
    developer,
    operator,
    operatorAccount,
    operatorTeam,
  ]),
  deciders.addChildren([consent]),
]);

export function createAppRouter(queries: QueryClient) {
  const router = createRouter({
    routeTree: tree,
    context: { queries },
    defaultPreload: 'intent',
    defaultPendingMs: 0,
    defaultPendingMinMs: 0,
    defaultPendingComponent: LoadingPage,
    defaultErrorComponent: RouteFailure,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
  });
  // Focus the heading, so that screen readers announce the new page.
  router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
    if (fromLocation !== undefined && pathChanged) document.querySelector('h1')?.focus({ preventScroll: true });
  });
  return router;
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
