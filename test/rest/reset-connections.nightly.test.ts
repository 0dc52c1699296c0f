import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import pg from 'pg';
import { expect, onTestFinished, vi } from 'vitest';
import { createListQueue } from '../../src/db/lists/queue.ts';
import { RequestCaller, runFor } from '../../src/db/turns/request-caller.ts';
import { CallerGoneError } from '../../src/turns.ts';
import { PLACE_LIMITS } from '../../src/db/lists/places.ts';
import { PreparedStatement } from '../../src/db/pipeline/prepared-statement.ts';
import { test, type Api } from '../support/api.ts';
import { aTenant, countLockWaits, holdLock } from './tenants.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const CONNECTIONS = 500;
/** What three connections for reads have sent before the reset: one batch each. */
const SENT_BEFORE = 3 * 8;
/** A neighbour's credential and its list. */
const OF_NEIGHBOUR = 2;

const eventually = (expectation: () => unknown) => vi.waitFor(expectation, { timeout: PATIENCE_MS });

type Tenant = Awaited<ReturnType<typeof aTenant>>;
type Asked = { readonly method: string; readonly path: string; readonly body?: object };

const ofMembers = ({ team }: Tenant) => encodeURIComponent(JSON.stringify({ teamId: team.id }));

/** A request of each interface, and of each way in which operations read and change. */
const REQUESTS: Readonly<Record<string, (tenant: Tenant) => Asked>> = {
  'a read of REST': () => ({ method: 'GET', path: '/api/v1/teams' }),
  'a list that can be long': ({ path }) => ({ method: 'GET', path: `${path}/members` }),
  'a list with a connection of its own': ({ path }) => ({ method: 'GET', path: `${path}/invitations` }),
  'a change of REST': ({ path }) => ({ method: 'PATCH', path, body: { name: 'Never' } }),
  'a new invitation': ({ path }) => ({ method: 'POST', path: `${path}/invitations`, body: { email: 'n@example.com' } }),
  'a query of tRPC': (tenant) => ({ method: 'GET', path: `/trpc/listTeamMembers?input=${ofMembers(tenant)}` }),
  'a mutation of tRPC': ({ team }) => ({
    method: 'POST',
    path: '/trpc/updateTeam',
    body: { teamId: team.id, name: 'Never' },
  }),
  'a tool of MCP': ({ team }) => ({
    method: 'POST',
    path: '/mcp',
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'updateTeam', arguments: { teamId: team.id, name: 'Never' } },
    },
  }),
};

function serialize({ key }: Tenant, { method, path, body }: Asked): string {
  const content = body === undefined ? '' : JSON.stringify(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost:3000',
    `Authorization: Bearer ${key.secret}`,
    'Accept: application/json, text/event-stream',
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${content.length}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${content}`;
}

async function open({ port }: Api, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const isGone = ({ msg, status }: Record<string, unknown>) => msg === 'request' && status === 408;

// Guarantees that a flood of them costs others nothing but reading its requests.
test.for(Object.keys(REQUESTS))(
  `${CONNECTIONS} connections that are reset after %s: no statement and no connection of PostgreSQL is for them any more`,
  async (kind, { api }) => {
    const [busy, other] = [await aTenant(api), await aTenant(api)];
    const text = serialize(busy, REQUESTS[kind]?.(busy) ?? { method: '', path: '' });
    const sent = vi.spyOn(PreparedStatement.prototype, 'send');
    const connected = vi.spyOn(pg.Connection.prototype as unknown as { connect(): void }, 'connect');
    onTestFinished(() => void vi.restoreAllMocks());
    // Callers are not identified until it is released.
    const lock = await holdLock(api, 'lock table api_key in access exclusive mode');
    sent.mockClear();
    const callers = vi.spyOn(RequestCaller.prototype, 'beginIdentification').mockClear();
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(api, text)));
    await eventually(() => expect(callers).toHaveBeenCalledTimes(CONNECTIONS));
    await eventually(async () => expect(await countLockWaits(api)).toBe(3));
    connected.mockClear();
    const logged = api.lines.length;

    for (const socket of sockets) socket.resetAndDestroy();
    const gone = () => (callers.mock.contexts as RequestCaller[]).filter((caller) => caller.isGone);
    await eventually(() => expect(gone()).toHaveLength(CONNECTIONS));
    const neighbour = api.as(other.key).get('/api/v1/teams');
    await eventually(() => expect(callers).toHaveBeenCalledTimes(CONNECTIONS + 1));
    await lock.release();

    expect((await neighbour).status).toBe(200);
    await eventually(() => expect(api.lines.slice(logged).filter(isGone)).toHaveLength(CONNECTIONS));
    expect(sent.mock.calls.length).toBeLessThanOrEqual(SENT_BEFORE + OF_NEIGHBOUR);
    expect(connected).not.toHaveBeenCalled();
    expect(await api.rows(`select from audit_event where team_id = $1`, [busy.team.id])).toEqual([]);
  },
);

test('a list keeps its connection if its client goes while PostgreSQL is at work on it, and sends no cancel request', async ({
  api,
}) => {
  const pool = new pg.Pool({ connectionString: api.databaseUrl, max: 1 });
  onTestFinished(() => pool.end());
  const queue = createListQueue(pool, PLACE_LIMITS, 60_000);
  const pid = { name: 'pid', text: 'select pg_backend_pid() as pid', values: [] };
  const before = await queue.run(pid);
  const lock = await holdLock(api, 'select pg_advisory_lock(4712)');
  const [socket, response] = [new EventEmitter(), new EventEmitter()];
  const caller = new RequestCaller('192.0.2.1', { socket } as IncomingMessage, response as ServerResponse);
  const text = 'select n from pg_advisory_xact_lock_shared(4712), generate_series(1, 1000) n';
  const list = runFor(caller, () => queue.runLong({ name: 'gone', text, values: [] }));
  await eventually(async () => expect(await countLockWaits(api)).toBe(1));
  const connected = vi.spyOn(pg.Connection.prototype as unknown as { connect(): void }, 'connect').mockClear();
  onTestFinished(() => {
    connected.mockRestore();
  });

  socket.emit('close');
  const ended = expect(list).rejects.toThrow(CallerGoneError);
  await lock.release();

  await ended;
  expect(await queue.run(pid)).toEqual(before);
  expect(connected).not.toHaveBeenCalled();
});
