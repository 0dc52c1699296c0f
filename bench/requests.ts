import type { Caller } from './data/fill.ts';

export const REQUESTS = ['teams', 'members', 'credential', 'verify', 'patch', 'invite', 'key', 'remove'] as const;
export type RequestName = (typeof REQUESTS)[number];

/** Requests that succeed only once each; before every run, what they delete is inserted again. */
export const isOnce = (name: RequestName): boolean => name === 'remove';

/** What the load generator sends, again and again. */
export type Sent = {
  readonly method: 'GET' | 'PATCH' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** How a server is asked for each of the requests; undefined where it has no such. `turn` counts requests that are sent once. */
export type Dialect = (name: RequestName, caller: Caller, turn?: number) => Sent | undefined;

export const TITLES: Readonly<Record<RequestName, string>> = {
  teams: 'GET /api/v1/teams',
  members: 'GET /api/v1/teams/{id}/members',
  credential: 'GET /api/v1/credential',
  verify: 'POST /operator/v1/credentials/verify',
  patch: 'PATCH /api/v1/teams/{id}',
  invite: 'POST /api/v1/teams/{id}/invitations',
  key: 'POST /api/v1/api-keys',
  remove: 'DELETE /api/v1/teams/{id}/members/{id}',
};

const JSON_TYPE = { 'content-type': 'application/json' };

/** Roster and the hand-written service, by the key or the token. */
const rest =
  (secretOf: (caller: Caller) => string): Dialect =>
  (name, caller, turn = 0) => {
    const headers = { authorization: `Bearer ${secretOf(caller)}` };
    const team = `/api/v1/teams/${caller.teamId}`;
    const write = (method: 'PATCH' | 'POST', path: string, body: object) =>
      ({ method, path, headers: { ...headers, ...JSON_TYPE }, body: JSON.stringify(body) }) as const;
    const removable = caller.removable?.[turn];
    return {
      teams: { method: 'GET', path: '/api/v1/teams', headers } as const,
      members: { method: 'GET', path: `${team}/members`, headers } as const,
      credential: { method: 'GET', path: '/api/v1/credential', headers } as const,
      verify: undefined,
      // Another name of the same length than the turn before, because what changes nothing is not recorded.
      patch: write('PATCH', team, { name: `${caller.teamName.slice(0, -1)}${turn % 2 === 0 ? '+' : '-'}` }),
      // The first request invites, the others renew the invitation.
      invite: write('POST', `${team}/invitations`, { email: 'invited@example.com' }),
      key: write('POST', '/api/v1/api-keys', { name: 'bench', scopes: ['teams:read'] }),
      remove:
        removable === undefined
          ? undefined
          : ({ method: 'DELETE', path: `${team}/members/${removable}`, headers } as const),
    }[name];
  };

/** Only Roster verifies credentials for others. */
const verifying =
  (dialect: Dialect, secretOf: (caller: Caller) => string): Dialect =>
  (name, caller, turn) => {
    if (name !== 'verify') return dialect(name, caller, turn);
    const headers = { authorization: `Bearer ${caller.operatorKey}`, ...JSON_TYPE };
    const body = JSON.stringify({ credential: secretOf(caller) });
    return { method: 'POST', path: '/operator/v1/credentials/verify', headers, body };
  };

export const byHand: Dialect = rest(({ key }) => key);
export const byKey: Dialect = verifying(byHand, ({ key }) => key);
export const byToken: Dialect = verifying(
  rest(({ token = '' }) => token),
  ({ token = '' }) => token,
);

/** The endpoints of Better Auth for the same. Nothing there says what a key can do; its keys create no keys or invitations. */
export const betterAuth: Dialect = (name, { key, teamId, teamName }) => {
  // A proxy in front would name the address that requests are counted by.
  const headers = { 'x-api-key': key, 'x-forwarded-for': '203.0.113.7' };
  const body = JSON.stringify({ organizationId: teamId, data: { name: teamName } });
  return {
    teams: { method: 'GET', path: '/api/auth/organization/list', headers } as const,
    members: { method: 'GET', path: `/api/auth/organization/list-members?organizationId=${teamId}`, headers } as const,
    credential: undefined,
    verify: undefined,
    invite: undefined,
    key: undefined,
    remove: undefined,
    patch: {
      method: 'POST',
      path: '/api/auth/organization/update',
      headers: { ...headers, ...JSON_TYPE },
      body,
    } as const,
  }[name];
};

/** An answer's body, or an error that says why nothing is measured. */
export async function answerTo(url: string, { method, path, headers, body }: Sent): Promise<string> {
  const answer = await fetch(url + path, { method, headers, body: body ?? null });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status}: ${text.slice(0, 300)}`);
  return text;
}
