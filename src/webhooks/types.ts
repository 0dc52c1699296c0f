import type { Permission } from '../entities/index.ts';
import { EVENTS, type EventName } from '../events/catalogue.ts';

/** Events for the audit log alone: denials, views by operators, and the state of the log itself. */
const AUDIT_ONLY = /^(?:operator|access|sign_in|attempts|oauth_request|denials|audit_log)\./;

const names = Object.keys(EVENTS) as EventName[]; // the keys of a constant object

/** The events that an endpoint of the installation can get. */
export const INSTALLATION_TYPES: readonly EventName[] = names.filter((name) => !AUDIT_ONLY.test(name));

type TeamType = { [Name in EventName]: (typeof EVENTS)[Name]['webhook'] extends true ? Name : never }[EventName];

function isTeamType(name: EventName): name is TeamType {
  return EVENTS[name].webhook;
}

/** The events that an endpoint of a team can get. */
export const TEAM_TYPES: readonly TeamType[] = INSTALLATION_TYPES.filter(isTeamType);

/** The permission for which REST shows the same data, by the part of the name before the dot. */
const PERMISSIONS_OF: Readonly<Record<string, Permission>> = {
  member: 'access_dashboard',
  role: 'access_dashboard',
  invitation: 'invite_members',
  api_key: 'manage_api_keys',
  webhook_endpoint: 'edit_team_settings',
};

/** Returns the permission that a member needs to get an event of their team; null if every member can. */
export function requiredPermission(event: string): Permission | null {
  if (event === 'team.plan_set') return 'access_billing';
  return PERMISSIONS_OF[event.split('.', 1)[0] ?? ''] ?? null;
}
