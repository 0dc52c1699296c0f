import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consolePages, decisionPages } from './layouts.tsx';
import { text } from './search.ts';
import { teamRoutes } from './team.ts';

const home = createRoute({
  getParentRoute: () => consolePages,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/home.tsx'), 'Home'),
});

const account = createRoute({
  getParentRoute: () => consolePages,
  path: '/account',
  component: lazyRouteComponent(() => import('../pages/account.tsx'), 'AccountPage'),
});

const developer = createRoute({
  getParentRoute: () => consolePages,
  path: '/developer',
  component: lazyRouteComponent(() => import('../pages/developer.tsx'), 'DeveloperPage'),
});

const apiKeys = createRoute({
  getParentRoute: () => consolePages,
  path: '/api-keys',
  component: lazyRouteComponent(() => import('../pages/api-keys.tsx'), 'ApiKeysPage'),
});

const operator = createRoute({
  getParentRoute: () => consolePages,
  path: '/operator',
  validateSearch: ({ find }: Record<string, unknown>): { find?: string } =>
    text(find) === undefined ? {} : { find: String(find) },
  component: lazyRouteComponent(() => import('../pages/operator.tsx'), 'OperatorPage'),
});

const operatorAccount = createRoute({
  getParentRoute: () => consolePages,
  path: '/operator/accounts/$accountId',
  component: lazyRouteComponent(() => import('../pages/operator/account.tsx'), 'OperatorAccountPage'),
});

const operatorTeam = createRoute({
  getParentRoute: () => consolePages,
  path: '/operator/teams/$teamId',
  component: lazyRouteComponent(() => import('../pages/operator/team.tsx'), 'OperatorTeamPage'),
});

const consent = createRoute({
  getParentRoute: () => decisionPages,
  path: '/oauth/consent/$id',
  component: lazyRouteComponent(() => import('../pages/consent.tsx'), 'ConsentPage'),
});

export const consoleRoutes = consolePages.addChildren([
  home,
  account,
  developer,
  apiKeys,
  operator,
  operatorAccount,
  operatorTeam,
  teamRoutes,
]);

export const decisionRoutes = decisionPages.addChildren([consent]);
