import {
  AuditLog,
  Billing,
  Code,
  Invitation,
  Key,
  Operator,
  Overview,
  People,
  Person,
  Roles,
  Settings,
  Teams,
  Webhook,
  type Icon,
} from '../components/icons.tsx';
import { texts } from '../messages/console.ts';
import { teamTexts } from '../messages/team.ts';
import type { Outputs } from '../trpc.ts';

type Permission = Outputs['teams']['permissions'][number];

/** The pages of an account. The last is for operators; the service checks the role on each call. */
export const ACCOUNT_PLACES = [
  { to: '/', label: texts.header.teams, icon: Teams },
  { to: '/api-keys', label: texts.header.apiKeys, icon: Key },
  { to: '/account', label: texts.header.account, icon: Person },
  { to: '/developer', label: texts.header.developer, icon: Code },
  { to: '/operator', label: texts.header.operator, icon: Operator, isForOperators: true },
] as const;

type TeamPlace = {
  readonly to: `/teams/$teamId${'' | `/${'members' | 'invitations' | 'roles' | 'api-keys' | 'billing' | 'webhooks' | 'audit' | 'settings'}`}`;
  readonly label: string;
  readonly icon: Icon;
  readonly permission?: Permission;
};

/** The pages of a team, with the permission that the user needs to see a page. */
export const TEAM_PLACES: readonly TeamPlace[] = [
  { to: '/teams/$teamId', label: teamTexts.overview, icon: Overview },
  { to: '/teams/$teamId/members', label: teamTexts.members, icon: People, permission: 'access_dashboard' },
  { to: '/teams/$teamId/invitations', label: teamTexts.invitations, icon: Invitation, permission: 'invite_members' },
  { to: '/teams/$teamId/roles', label: teamTexts.roles, icon: Roles, permission: 'access_dashboard' },
  { to: '/teams/$teamId/api-keys', label: teamTexts.apiKeys, icon: Key, permission: 'manage_api_keys' },
  { to: '/teams/$teamId/billing', label: teamTexts.billing, icon: Billing, permission: 'access_billing' },
  { to: '/teams/$teamId/webhooks', label: teamTexts.webhooks, icon: Webhook, permission: 'edit_team_settings' },
  { to: '/teams/$teamId/audit', label: teamTexts.audit, icon: AuditLog, permission: 'edit_team_settings' },
  { to: '/teams/$teamId/settings', label: teamTexts.settings, icon: Settings },
];
