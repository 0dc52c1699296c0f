export { toExpress, toFastify, toFetchRequest, toHono, toNext } from './server/adapters.ts';
export {
  memoryEndedSessions,
  postgresEndedSessions,
  redisEndedSessions,
  type EndedSessions,
} from './server/ended-sessions.ts';
export { RosterAccessError } from './server/errors.ts';
export { createRosterAuth, type RosterAuth, type RosterAuthOptions } from './server/roster-auth.ts';
export type { RosterSession, SessionUser } from './server/sessions.ts';
export type { SessionTeam, UserClaims } from './server/tokens.ts';
