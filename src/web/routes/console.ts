import { createRoute } from '@tanstack/react-router';
import { lazyPage } from './lazy-page.ts';
import { consolePages, decisionPages } from './layouts.tsx';
import { text } from './search.ts';
import { teamRoutes } from './team.ts';

const home = createRoute({
  getParentRoute: () => consolePages,
  path: '/',
  component: lazyPage(() => import('../pages/home.tsx'), 'Home'),
});

const account = createRoute({
  getParentRoute: () => consolePages,
  path: '/account',
  component: lazyPage(() => import('../pages/account.tsx'), 'AccountPage'),
});

const developer = createRoute({
  getParentRoute: () => consolePages,
  path: '/developer',
  component: lazyPage(() => import('../pages/developer.tsx'), 'DeveloperPage'),
});

const apiKeys = createRoute({
  getParentRoute: () => consolePages,
  path: '/api-keys',
  component: lazyPage(() => import('../pages/api-keys.tsx'), 'ApiKeysPage'),
});

const operator = createRoute({
  getParentRoute: () => consolePages,
  path: '/operator',
  validateSearch: ({ find }: Record<string, unknown>): { find?: string } =>
    text(find) === undefined ? {} : { find: String(find) },
  component: lazyPage(() => import('../pages/operator.tsx'), 'OperatorPage'),
});

const operatorAccount = createRoute({
  getParentRoute: () => consolePages,
  path: '/operator/accounts/$accountId',
  component: lazyPage(() => import('../pages/operator/account.tsx'), 'OperatorAccountPage'),
});

const operatorTeam = createRoute({
  getParentRoute: () => consolePages,
  path: '/operator/teams/$teamId',
  component: lazyPage(() => import('../pages/operator/team.tsx'), 'OperatorTeamPage'),
});

const operatorWebhooks = createRoute({
  getParentRoute: () => consolePages,
  path: '/operator/webhooks',
  component: lazyPage(() => import('../pages/operator/webhooks.tsx'), 'OperatorWebhooksPage'),
});

const operatorDeliveries = createRoute({
  getParentRoute: () => consolePages,
  path: '/operator/webhooks/$endpointId',
  component: lazyPage(() => import('../pages/operator/webhooks.tsx'), 'OperatorDeliveriesPage'),
});

const consent = createRoute({
  getParentRoute: () => decisionPages,
  path: '/oauth/consent/$id',
  component: lazyPage(() => import('../pages/consent.tsx'), 'ConsentPage'),
});

export const consoleRoutes = consolePages.addChildren([
  home,
  account,
  developer,
  apiKeys,
  operator,
  operatorAccount,
  operatorTeam,
  operatorWebhooks,
  operatorDeliveries,
  teamRoutes,
]);

export const decisionRoutes = decisionPages.addChildren([consent]);
