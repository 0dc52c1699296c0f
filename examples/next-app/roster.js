import { createOperator } from '@roster/client';
import { createRosterAuth, memoryEndedSessions } from '@roster/client/server';

const { ROSTER_URL, APP_URL, COOKIE_SECRET, ROSTER_CLIENT_ID, ROSTER_CLIENT_SECRET, ROSTER_OPERATOR_KEY } = process.env;

/** Where this server reaches Roster. */
export const internalUrl = process.env.ROSTER_INTERNAL_URL ?? ROSTER_URL;

// Next loads this file for each route, which all have to know the same.
const shared = (globalThis.roster ??= { endedSessions: memoryEndedSessions(), invoices: new Map() });

export const auth = createRosterAuth({
  baseUrl: ROSTER_URL,
  appUrl: APP_URL,
  clientId: ROSTER_CLIENT_ID,
  clientSecret: ROSTER_CLIENT_SECRET,
  secret: COOKIE_SECRET,
  scopes: ['profile:read', 'teams:read'],
  endedSessions: shared.endedSessions,
  internalUrl,
  operator: createOperator({ baseUrl: internalUrl, operatorKey: ROSTER_OPERATOR_KEY }),
});

/** The data of the product: in a database, `team_id` would be a column with row level security (docs/isolate-data.md). */
export function invoicesOf(teamId) {
  if (!shared.invoices.has(teamId)) shared.invoices.set(teamId, []);
  return shared.invoices.get(teamId);
}
