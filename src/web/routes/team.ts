import { createRoute } from '@tanstack/react-router';
import { tableSearch } from '../components/table/table-state.ts';
import {
  activityQuery,
  endpointsQuery,
  invitationsQuery,
  keysQuery,
  membersQuery,
  permissionsQuery,
} from '../page-queries.ts';
import { openTeam } from '../team-reference.ts';
import { query } from '../trpc.ts';
import { NotFound } from '../components/route-failure.tsx';
import { lazyPage } from './lazy-page.ts';
import { consolePages } from './layouts.tsx';
import { teamReads } from './reads.ts';

const team = createRoute({
  getParentRoute: () => consolePages,
  path: '/teams/$teamId',
  // Who is a member, the service says: a team that the user cannot see does not exist.
  staticData: { access: 'session' },
  notFoundComponent: NotFound,
  beforeLoad: openTeam,
  loader: teamReads((teamId, can) => (can('access_dashboard') ? [query('listTeamRoles', { teamId })] : [])),
  component: lazyPage(() => import('../pages/team/team-layout.tsx'), 'TeamLayout'),
});

const teamPages = [
  createRoute({
    getParentRoute: () => team,
    path: '/',
    staticData: { access: 'member' },
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
    staticData: { access: 'access_dashboard' },
    validateSearch: tableSearch('role', 'status'),
    loader: teamReads((teamId) => [query('teams.ownershipOffer', { teamId }), membersQuery(teamId)]),
    component: lazyPage(() => import('../pages/team/members.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/invitations',
    staticData: { access: 'invite_members' },
    validateSearch: tableSearch('role', 'status'),
    loader: teamReads((teamId) => [invitationsQuery(teamId)]),
    component: lazyPage(() => import('../pages/team/invitations.tsx'), 'InvitationsPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/roles',
    staticData: { access: 'access_dashboard' },
    loader: teamReads((teamId) => [
      query('listTeamMembers', { teamId }),
      query('roles.list', { teamId }),
      permissionsQuery(),
    ]),
    component: lazyPage(() => import('../pages/team/roles.tsx'), 'RolesPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/api-keys',
    staticData: { access: 'manage_api_keys' },
    validateSearch: tableSearch('expires'),
    loader: teamReads((teamId) => [keysQuery(teamId), permissionsQuery()]),
    component: lazyPage(() => import('../pages/team/api-keys.tsx'), 'TeamApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/billing',
    staticData: { access: 'access_billing' },
    loader: teamReads((teamId) => [query('teams.seats', { teamId }), query('getTeamBilling', { teamId })]),
    component: lazyPage(() => import('../pages/team/billing.tsx'), 'BillingPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/audit',
    staticData: { access: 'edit_team_settings' },
    validateSearch: tableSearch('kind', 'person', 'key', 'address', 'from', 'to'),
    loader: teamReads((teamId, _, hasSearch) => (hasSearch ? [] : [query('audit.list', { teamId, order: 'newest' })])),
    component: lazyPage(() => import('../pages/team/audit.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/webhooks',
    staticData: { access: 'edit_team_settings' },
    loader: teamReads((teamId) => [endpointsQuery(teamId)]),
    component: lazyPage(() => import('../pages/team/webhooks.tsx'), 'TeamWebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/webhooks/$endpointId',
    staticData: { access: 'edit_team_settings' },
    loader: teamReads((teamId) => [endpointsQuery(teamId)]),
    component: lazyPage(() => import('../pages/team/webhooks.tsx'), 'TeamDeliveriesPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/settings',
    staticData: { access: 'member' },
    component: lazyPage(() => import('../pages/team/settings.tsx'), 'SettingsPage'),
  }),
] as const;

export const teamRoutes = team.addChildren(teamPages);
