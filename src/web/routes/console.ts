import { createRoute } from '@tanstack/react-router';
import { tableSearch } from '../components/table/table-state.ts';
import { keysQuery, permissionsQuery, SHOWN_EVENTS } from '../page-queries.ts';
import { query } from '../trpc.ts';
import { lazyPage } from './lazy-page.ts';
import { consolePages, decisionPages } from './layouts.tsx';
import { operatorRoutes } from './operator.ts';
import { reads } from './reads.ts';
import { teamRoutes } from './team.ts';

const home = createRoute({
  getParentRoute: () => consolePages,
  path: '/',
  staticData: { access: 'session' },
  validateSearch: tableSearch(),
  loader: reads(() => [query('listTeams'), query('teams.ownershipOffers'), query('teams.sizes')]),
  component: lazyPage(() => import('../pages/home.tsx'), 'Home'),
});

const account = createRoute({
  getParentRoute: () => consolePages,
  path: '/account',
  staticData: { access: 'session' },
  loader: reads(() => [
    query('passkeys.list'),
    query('sessions.list'),
    query('grants.list'),
    query('account.activity', { limit: SHOWN_EVENTS.account }),
  ]),
  component: lazyPage(() => import('../pages/account.tsx'), 'AccountPage'),
});

const developer = createRoute({
  getParentRoute: () => consolePages,
  path: '/developer',
  staticData: { access: 'session' },
  loader: reads(() => [query('oauthClients.list')]),
  component: lazyPage(() => import('../pages/developer.tsx'), 'DeveloperPage'),
});

const apiKeys = createRoute({
  getParentRoute: () => consolePages,
  path: '/api-keys',
  staticData: { access: 'session' },
  validateSearch: tableSearch('expires'),
  loader: reads(() => [keysQuery(undefined), permissionsQuery()]),
  component: lazyPage(() => import('../pages/api-keys.tsx'), 'ApiKeysPage'),
});

const consent = createRoute({
  getParentRoute: () => decisionPages,
  path: '/oauth/consent/$id',
  staticData: { access: 'session' },
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
