import type { Permission } from '../entities/index.ts';
import { EVENTS, toEventName, type EventName } from '../events/catalogue.ts';

const names = Object.keys(EVENTS) as EventName[]; // the keys of a constant object

/** The events that an endpoint of the installation can get. */
export const INSTALLATION_TYPES: readonly EventName[] = names.filter((name) => EVENTS[name].isDelivered);

type OfTeam = { readonly audience: 'team'; readonly isDelivered: true };
type TeamType = { [Name in EventName]: (typeof EVENTS)[Name] extends OfTeam ? Name : never }[EventName];

function isTeamType(name: EventName): name is TeamType {
  return EVENTS[name].audience === 'team';
}

/** The events that an endpoint of a team can get. */
export const TEAM_TYPES: readonly TeamType[] = INSTALLATION_TYPES.filter(isTeamType);

/** Returns the permission that a member needs to get an event of their team; null if every member can. */
export const requiredPermission = (event: string): Permission | null => EVENTS[toEventName(event)]?.permission ?? null;
