import { createRoute } from '@tanstack/react-router';
import { tableSearch } from '../components/table/table-state.ts';
import { lazyPage } from './lazy-page.ts';
import { consolePages, decisionPages } from './layouts.tsx';
import { operatorRoutes } from './operator.ts';
import { teamRoutes } from './team.ts';

const home = createRoute({
  getParentRoute: () => consolePages,
  path: '/',
  validateSearch: tableSearch(),
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
  validateSearch: tableSearch('expires'),
  component: lazyPage(() => import('../pages/api-keys.tsx'), 'ApiKeysPage'),
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
  ...operatorRoutes,
  teamRoutes,
]);

export const decisionRoutes = decisionPages.addChildren([consent]);
