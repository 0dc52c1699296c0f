import { createRoster } from './client.ts';
import { isRosterError } from './errors.ts';
import type { Credential, Team } from './generated/operations.ts';
import type { ConnectionOptions } from './methods.ts';

/** A request of `fetch`, or of Node.js. */
export type IncomingRequest = {
  readonly headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
};

/** Who sent a request. */
export type Authenticated = {
  /** The bearer token itself, to call Roster in the name of the sender. */
  readonly token: string;
  readonly credential: Credential;
  /** The team that was asked for, with the role of the sender. Null if none was asked for. */
  readonly team: Team | null;
};

export type AuthenticateOptions = ConnectionOptions & {
  /** Requires that the sender is an active member of this team. The credential needs the scope `teams:read`. */
  readonly teamId?: string;
};

/**
 * Asks Roster who sent a request to your API with an API key or access token of Roster.
 * @returns null if the request has no valid bearer token, or no access to the team: answer with 401
 * @throws RosterError if Roster could not answer, such as `rate_limited`
 */
export async function authenticate(
  { headers }: IncomingRequest,
  { teamId, ...options }: AuthenticateOptions,
): Promise<Authenticated | null> {
  const header = headers instanceof Headers ? headers.get('authorization') : headers['authorization'];
  const token = typeof header === 'string' ? /^Bearer +(\S+)$/i.exec(header)?.[1] : undefined;
  if (token === undefined) return null;
  const roster = createRoster({ ...options, credential: token });
  try {
    const [credential, team] = await Promise.all([
      roster.getCredential(),
      teamId === undefined ? null : roster.getTeam({ teamId }),
    ]);
    return { token, credential, team };
  } catch (error) {
    if (isRosterError(error) && NO_ACCESS.has(error.code)) return null;
    throw error;
  }
}

const NO_ACCESS: ReadonlySet<string> = new Set([
  'credential_invalid',
  'credential_missing',
  'scope_missing',
  'team_not_found',
]);
