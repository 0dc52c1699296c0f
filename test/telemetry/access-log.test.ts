import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { OWN_ID } from '../events/events.ts';
import { test, type Api } from '../support/api.ts';

type Line = {
  operation: string | null;
  status: number;
  durationMs: number;
  credentialId: string | null;
  requestId: string;
  clientRequestId: string | null;
};

const REQUEST_ID = 'the-request';

/** What one request writes, but for what every line of the log has. */
async function linesOf(api: Api, request: () => Promise<unknown>): Promise<Line[]> {
  const before = api.lines.length;
  await request();
  const written = () => api.lines.slice(before).filter(({ msg }) => msg === 'request');
  await expect.poll(() => written().length, { interval: 5 }).toBeGreaterThan(0);
  // What comes after the answer to a later request has been written would have come by now.
  await api.as(null).get('/healthz');
  await expect.poll(() => written().length, { interval: 5 }).toBeGreaterThan(1);
  return written().slice(0, -1) as unknown as Line[]; // what the test is about
}

const headers = { 'x-request-id': REQUEST_ID };
const json = { ...headers, 'content-type': 'application/json' };
const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };

// Guarantees that an operator finds every request by its id and by its client's, and counts each once.
describe('every request writes one line', () => {
  type Case = readonly [
    sent: { method: string; path: string; headers: Record<string, string>; body?: string },
    operation: string | null,
    status: number,
  ];
  const cases: readonly Case[] = [
    [{ method: 'GET', path: '/api/v1/teams', headers }, 'listTeams', 200],
    [{ method: 'HEAD', path: '/api/v1/teams', headers }, 'listTeams', 200],
    [{ method: 'OPTIONS', path: '/api/v1/teams', headers }, 'listTeams', 204],
    [{ method: 'GET', path: '/api/v1/teams/team_x', headers }, 'getTeam', 404],
    [{ method: 'POST', path: '/api/v1/teams', headers: json, body: '{' }, 'createTeam', 400],
    [{ method: 'PUT', path: '/api/v1/teams', headers }, null, 405],
    [{ method: 'GET', path: '/api/v1/nothing', headers }, null, 404],
    [{ method: 'GET', path: '/api/v1/openapi.json', headers }, null, 200],
    [{ method: 'GET', path: '/trpc/listTeams', headers }, 'listTeams', 200],
    [{ method: 'GET', path: '/trpc/list%54eams', headers }, 'listTeams', 200],
    [{ method: 'GET', path: '/trpc/listTeams,account.overview?batch=1', headers }, null, 207],
    [{ method: 'GET', path: '/trpc/listTeams,getCredential?batch=1', headers }, 'listTeams,getCredential', 200],
    [{ method: 'GET', path: '/trpc/toString', headers }, null, 404],
    [{ method: 'GET', path: '/trpc/%zz', headers }, null, 400],
    [{ method: 'POST', path: '/trpc/createTeam', headers, body: 'name=A' }, 'createTeam', 415],
    [{ method: 'GET', path: '/.well-known/oauth-authorization-server', headers }, 'oauth.metadata', 200],
    [{ method: 'GET', path: '/oauth/authorize', headers }, 'oauth.authorize', 400],
    [{ method: 'POST', path: '/oauth/token', headers: form, body: 'grant_type=x' }, 'oauth.token', 400],
    [{ method: 'GET', path: '/oauth/token', headers }, null, 405],
    [{ method: 'GET', path: '/readyz', headers }, null, 200],
    [{ method: 'GET', path: '/docs', headers }, null, 200],
    [{ method: 'GET', path: '/nothing', headers }, null, 404],
    [{ method: 'GET', path: '/%zz', headers }, null, 404],
  ];

  test.for(cases)('%o', async ([sent, operation, status], { api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:read', 'teams:write'] });
    const isOurs = /^\/(api|trpc)\//.test(sent.path) && sent.method !== 'OPTIONS';

    const [line, ...others] = await linesOf(api, () => api.as(key).send(sent));

    expect(others).toEqual([]);
    expect(line).toMatchObject({ operation, status, clientRequestId: REQUEST_ID });
    expect(line?.requestId).toMatch(OWN_ID);
    expect(line?.credentialId).toBe(isOurs ? key.id : null);
    expect(line?.durationMs).toBeGreaterThan(0);
    expect(Object.keys(line ?? {}).sort()).toEqual(
      [
        'level',
        'time',
        'pid',
        'hostname',
        'operation',
        'status',
        'durationMs',
        'credentialId',
        'requestId',
        'clientRequestId',
        'msg',
      ].sort(),
    );
  });

  test.for([
    ['no HTTP at all', 'rst_pk_nonsense\r\n\r\n', 400],
    ['too many headers', `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const)('also %s, which no handler sees', async ([, bytes, status], { api }) => {
    const [line, ...others] = await linesOf(api, async () => {
      const socket = connect(api.port, '127.0.0.1', () => socket.write(bytes));
      const answer = await text(socket);
      expect(answer).toContain(`HTTP/1.1 ${status}`);
    });

    expect(others).toEqual([]);
    expect(line).toMatchObject({ operation: null, status, credentialId: null, clientRequestId: null });
    expect(line?.requestId).toMatch(OWN_ID);
  });
});
