import type { Permission } from '../entities/index.ts';
import { EVENTS, toEventName, type EventName } from '../events/catalogue.ts';

const names = Object.keys(EVENTS) as EventName[]; // the keys of a constant object

type DeliveredName = {
  [Name in EventName]: (typeof EVENTS)[Name]['isDelivered'] extends true ? Name : never;
}[EventName];
const isDelivered = (name: EventName): name is DeliveredName => EVENTS[name].isDelivered;

/** The events that an endpoint of the installation can get. */
export const INSTALLATION_TYPES: readonly DeliveredName[] = names.filter(isDelivered);

type OfTeam = { readonly audience: 'team'; readonly isDelivered: true };
type TeamType = { [Name in EventName]: (typeof EVENTS)[Name] extends OfTeam ? Name : never }[EventName];

/** Returns whether an endpoint of a team can get an event. */
export function isTeamType(name: EventName): name is TeamType {
  return EVENTS[name].isDelivered && EVENTS[name].audience === 'team';
}

/** The events that an endpoint of a team can get. */
export const TEAM_TYPES: readonly TeamType[] = INSTALLATION_TYPES.filter(isTeamType);

/** Returns the permission that a member needs to get an event of their team; null if every member can. */
export const requiredPermission = (event: string): Permission | null => EVENTS[toEventName(event)]?.permission ?? null;
