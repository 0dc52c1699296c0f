import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consolePages } from './layouts.tsx';

const team = createRoute({
  getParentRoute: () => consolePages,
  path: '/teams/$teamId',
  component: lazyRouteComponent(() => import('../pages/team/team-layout.tsx'), 'TeamLayout'),
});

const teamPages = [
  createRoute({
    getParentRoute: () => team,
    path: '/',
    component: lazyRouteComponent(() => import('../pages/team/overview.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/members',
    component: lazyRouteComponent(() => import('../pages/team/members.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/invitations',
    component: lazyRouteComponent(() => import('../pages/team/invitations.tsx'), 'InvitationsPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/roles',
    component: lazyRouteComponent(() => import('../pages/team/roles.tsx'), 'RolesPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/api-keys',
    component: lazyRouteComponent(() => import('../pages/team/api-keys.tsx'), 'TeamApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/billing',
    component: lazyRouteComponent(() => import('../pages/team/billing.tsx'), 'BillingPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/audit',
    component: lazyRouteComponent(() => import('../pages/team/audit.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => team,
    path: '/settings',
    component: lazyRouteComponent(() => import('../pages/team/settings.tsx'), 'SettingsPage'),
  }),
] as const;

export const teamRoutes = team.addChildren(teamPages);
