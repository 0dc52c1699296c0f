import { createRoute } from '@tanstack/react-router';
import { tableSearch } from '../components/table/table-state.ts';
import { activityQuery, endpointsQuery, invitationsQuery, keysQuery, membersQuery } from '../page-queries.ts';
import { openTeam } from '../team-reference.ts';
import { query } from '../trpc.ts';
import { NotFound } from '../components/route-failure.tsx';
import { lazyPage } from './lazy-page.ts';
import { consolePages } from './layouts.tsx';
import { teamReads } from './reads.ts';

const team = createRoute({
  getParentRoute: () => consolePages,
  path: '/teams/$teamId',
  notFoundComponent: NotFound,
  beforeLoad: openTeam,
  loader: teamReads((teamId, can) => (can('access_dashboard') ? [query('listTeamRoles', { teamId })] : [])),
  component: lazyPage(() => import('../pages/team/team-layout.tsx'), 'TeamLayout'),
});

const teamPages = [
  createRoute({
    getParentRoute: () => team,
    path: '/',
    loader: teamReads((teamId, can) => [
      query('teams.overview', { teamId }),
      ...(can('manage_api_keys') ? [query('apiKeys.usageOfTeam', { teamId })] : []),
      ...(can('access_dashboard') ? [query('members.history', { teamId })] : []),
      ...(can('edit_team_settings') ? [activityQuery(teamId)] : []),
    ]),
    component: lazyPage(() => import('../pages/team/overview.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/members',
    validateSearch: tableSearch('role', 'status'),
    loader: teamReads((teamId, can) => [
      query('teams.ownershipOffer', { teamId }),
      ...(can('access_dashboard') ? [membersQuery(teamId)] : []),
    ]),
    component: lazyPage(() => import('../pages/team/members.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/invitations',
    validateSearch: tableSearch('role', 'status'),
    loader: teamReads((teamId, can) => (can('invite_members') ? [invitationsQuery(teamId)] : [])),
    component: lazyPage(() => import('../pages/team/invitations.tsx'), 'InvitationsPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/roles',
    loader: teamReads((teamId, can) => (can('access_dashboard') ? [query('listTeamMembers', { teamId })] : [])),
    component: lazyPage(() => import('../pages/team/roles.tsx'), 'RolesPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/api-keys',
    validateSearch: tableSearch('expires'),
    loader: teamReads((teamId) => [keysQuery(teamId)]),
    component: lazyPage(() => import('../pages/team/api-keys.tsx'), 'TeamApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/billing',
    loader: teamReads((teamId, can) => [
      query('teams.seats', { teamId }),
      ...(can('access_billing') ? [query('getTeamBilling', { teamId })] : []),
    ]),
    component: lazyPage(() => import('../pages/team/billing.tsx'), 'BillingPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/audit',
    validateSearch: tableSearch('kind', 'person', 'key', 'address', 'from', 'to'),
    loader: teamReads((teamId, can, hasSearch) =>
      can('edit_team_settings') && !hasSearch ? [query('audit.list', { teamId, order: 'newest' })] : [],
    ),
    component: lazyPage(() => import('../pages/team/audit.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/webhooks',
    loader: teamReads((teamId, can) => (can('edit_team_settings') ? [endpointsQuery(teamId)] : [])),
    component: lazyPage(() => import('../pages/team/webhooks.tsx'), 'TeamWebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/webhooks/$endpointId',
    loader: teamReads((teamId, can) => (can('edit_team_settings') ? [endpointsQuery(teamId)] : [])),
    component: lazyPage(() => import('../pages/team/webhooks.tsx'), 'TeamDeliveriesPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/settings',
    component: lazyPage(() => import('../pages/team/settings.tsx'), 'SettingsPage'),
  }),
] as const;

export const teamRoutes = team.addChildren(teamPages);
