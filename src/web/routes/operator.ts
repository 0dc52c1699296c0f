import { createRoute } from '@tanstack/react-router';
import { lazyPage } from './lazy-page.ts';
import { consolePages } from './layouts.tsx';
import { tableSearch } from '../components/table/table-state.ts';
import { onlyTexts } from './search.ts';

/** The pages of the operator's area. The search, filters and position of a list are in its URL. */
export const operatorRoutes = [
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator',
    staticData: { access: 'operator' },
    validateSearch: onlyTexts('find'),
    component: lazyPage(() => import('../pages/operator.tsx'), 'OperatorPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/accounts',
    staticData: { access: 'operator' },
    validateSearch: onlyTexts('by', 'text', 'show', 'cursor', 'hide', 'sort'),
    component: lazyPage(() => import('../pages/operator/accounts.tsx'), 'OperatorAccountsPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/accounts/$accountId',
    staticData: { access: 'operator' },
    component: lazyPage(() => import('../pages/operator/account.tsx'), 'OperatorAccountPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/accounts/$accountId/keys',
    staticData: { access: 'operator' },
    validateSearch: tableSearch('cursor'),
    component: lazyPage(() => import('../pages/operator/keys-of.tsx'), 'OperatorAccountKeysPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/teams',
    staticData: { access: 'operator' },
    validateSearch: onlyTexts('by', 'text', 'show', 'cursor', 'hide', 'sort'),
    component: lazyPage(() => import('../pages/operator/teams.tsx'), 'OperatorTeamsPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/teams/$teamId',
    staticData: { access: 'operator' },
    component: lazyPage(() => import('../pages/operator/team.tsx'), 'OperatorTeamPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/teams/$teamId/members',
    staticData: { access: 'operator' },
    validateSearch: tableSearch('cursor', 'role', 'status'),
    component: lazyPage(() => import('../pages/operator/members.tsx'), 'OperatorMembersPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/teams/$teamId/keys',
    staticData: { access: 'operator' },
    validateSearch: tableSearch('cursor'),
    component: lazyPage(() => import('../pages/operator/keys-of.tsx'), 'OperatorTeamKeysPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/keys',
    staticData: { access: 'operator' },
    validateSearch: tableSearch(),
    component: lazyPage(() => import('../pages/operator/operator-keys.tsx'), 'OperatorKeysPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/clients',
    staticData: { access: 'operator' },
    validateSearch: tableSearch(),
    component: lazyPage(() => import('../pages/operator/clients.tsx'), 'OperatorClientsPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/permissions',
    staticData: { access: 'operator' },
    validateSearch: tableSearch(),
    component: lazyPage(() => import('../pages/operator/permissions.tsx'), 'OperatorPermissionsPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/jobs',
    staticData: { access: 'operator' },
    validateSearch: tableSearch('show', 'cursor'),
    component: lazyPage(() => import('../pages/operator/jobs.tsx'), 'OperatorJobsPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/audit',
    staticData: { access: 'operator' },
    validateSearch: onlyTexts(
      'event',
      'actorId',
      'accountId',
      'teamId',
      'keyId',
      'from',
      'to',
      'cursor',
      'hide',
      'sort',
    ),
    component: lazyPage(() => import('../pages/operator/audit.tsx'), 'OperatorAuditPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/webhooks',
    staticData: { access: 'operator' },
    component: lazyPage(() => import('../pages/operator/webhooks.tsx'), 'OperatorWebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => consolePages,
    path: '/operator/webhooks/$endpointId',
    staticData: { access: 'operator' },
    component: lazyPage(() => import('../pages/operator/webhooks.tsx'), 'OperatorDeliveriesPage'),
  }),
] as const;
