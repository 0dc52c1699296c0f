import { createRoute } from '@tanstack/react-router';
import { tableSearch } from '../components/table/table-state.ts';
import { openTeam } from '../team-reference.ts';
import { lazyPage } from './lazy-page.ts';
import { consolePages } from './layouts.tsx';

const team = createRoute({
  getParentRoute: () => consolePages,
  path: '/teams/$teamId',
  beforeLoad: openTeam,
  component: lazyPage(() => import('../pages/team/team-layout.tsx'), 'TeamLayout'),
});

const teamPages = [
  createRoute({
    getParentRoute: () => team,
    path: '/',
    component: lazyPage(() => import('../pages/team/overview.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/members',
    validateSearch: tableSearch('role', 'status'),
    component: lazyPage(() => import('../pages/team/members.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/invitations',
    validateSearch: tableSearch('role', 'status'),
    component: lazyPage(() => import('../pages/team/invitations.tsx'), 'InvitationsPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/roles',
    component: lazyPage(() => import('../pages/team/roles.tsx'), 'RolesPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/api-keys',
    validateSearch: tableSearch('expires'),
    component: lazyPage(() => import('../pages/team/api-keys.tsx'), 'TeamApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/billing',
    component: lazyPage(() => import('../pages/team/billing.tsx'), 'BillingPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/audit',
    validateSearch: tableSearch('kind', 'person', 'key', 'address', 'from', 'to'),
    component: lazyPage(() => import('../pages/team/audit.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/webhooks',
    component: lazyPage(() => import('../pages/team/webhooks.tsx'), 'TeamWebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/webhooks/$endpointId',
    component: lazyPage(() => import('../pages/team/webhooks.tsx'), 'TeamDeliveriesPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/settings',
    component: lazyPage(() => import('../pages/team/settings.tsx'), 'SettingsPage'),
  }),
] as const;

export const teamRoutes = team.addChildren(teamPages);
