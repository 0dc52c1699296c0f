import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { startApi, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { makeDataDir, removeDataDir, startService, type Service } from '../support/service.ts';

/** The answers to a few requests have to be more than the kernel buffers on a loopback connection. */
const ACCOUNTS = 12_000;

/** The people of a large team, each of which takes 2 KB in an answer, and a small one for pages of 100 KB. */
async function fill(api: Api) {
  const owner = await api.anAccount();
  await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
  const [large, small] = [await api.aTeam({ owner }), await api.aTeam({ owner })];
  await api.rows(
    `insert into account (id, email, first_name, last_name, created_at, updated_at)
     select 'acc_' || n, format('stalled-%s@example.com', n), repeat('😀', 250), repeat('😀', 250), now(), now()
     from generate_series(1, $1::int) n`,
    [ACCOUNTS],
  );
  for (const [team, count] of [
    [large, ACCOUNTS],
    [small, 60],
  ] as const)
    await api.rows(
      `insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
       select format('mem_%s_%s', $1::text, n), $1, 'acc_' || n, 'member', now(), now() from generate_series(1, $2::int) n`,
      [team.id, count],
    );
  // Of one account, two requests have lists at a time.
  const [member, agent] = [await api.anAccount(), await api.anAccount()];
  await api.aMember(large, member, { role: 'member' });
  await api.aMember(small, agent, { role: 'member' });
  return { owner, member, agent, largeId: large.id, smallId: small.id };
}

type Sent = { method: string; path: string; header: string; body?: string };

const toText = ({ method, path, header, body }: Sent): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    header,
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
    'Accept: application/json, text/event-stream',
    '',
    body ?? '',
  ].join('\r\n');

/** Opens a connection, sends a request on it so many times, and reads nothing. */
function aSilentClient({ port }: Service, request: Sent, times: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).pause();
  onTestFinished(() => void socket.destroy());
  socket.write(toText(request).repeat(times));
  return socket;
}

/** Whether the service still has its end of a connection. It has no other sign, because the client reads nothing. */
function isOpen({ port }: Service, { localPort = 0 }: Socket): boolean {
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, '0');
  const established = new RegExp(`:${hex(port)} \\w+:${hex(localPort)} 01 `);
  return ['/proc/net/tcp', '/proc/net/tcp6'].some((file) => established.test(readFileSync(file, 'utf8')));
}

describe.skipIf(process.platform !== 'linux')('a client that never reads', () => {
  test(
    'is disconnected from lists over REST and tRPC, answers over MCP and exports',
    { timeout: 300_000 },
    async () => {
      const api = await startApi();
      onTestFinished(() => api.close());
      const { owner, member, agent, largeId, smallId } = await fill(api);
      const [ofOwner = '', ofMember = '', ofAgent = ''] = await Promise.all(
        [owner, member, agent].map(
          async (of) => `Authorization: Bearer ${(await api.anApiKey(of, { scopes: SCOPES })).secret}`,
        ),
      );
      const { cookies } = await signedIn(api, owner);
      const dataDir = makeDataDir();
      const service = await startService({
        dataDir,
        env: { DATABASE_URL: api.databaseUrl, SECRET_KEYS: 'test-key-test-key-test-key-test-key' },
      });
      onTestFinished(async () => {
        service.kill();
        await service.exited;
        await removeDataDir(dataDir);
      });

      const session = [
        `Cookie: roster_session_${service.port}=${cookies.get('roster_session_3000')}`,
        `Origin: http://localhost:${service.port}`,
      ].join('\r\n');
      const lists = `/trpc/listTeamMembers,listTeams?batch=1&input=${encodeURIComponent(JSON.stringify({ 0: { teamId: largeId } }))}`;
      const call = { name: 'listTeamMembers', arguments: { teamId: smallId } };
      // Long, so that few of them are read and answered at once.
      const mcp = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }).padEnd(8192);
      const clients = (
        [
          [{ method: 'GET', path: `/api/v1/teams/${largeId}/members`, header: ofOwner }, 4],
          [{ method: 'GET', path: lists, header: ofMember }, 4],
          [{ method: 'POST', path: '/mcp', header: ofAgent, body: mcp }, 300],
          [{ method: 'GET', path: '/exports/accounts.csv', header: session }, 4],
        ] as readonly [Sent, number][]
      ).map(([request, times]) => ({ path: request.path, times, socket: aSilentClient(service, request, times) }));

      for (const { path, times, socket } of clients) {
        await expect.poll(() => isOpen(service, socket), { timeout: 90_000, message: path }).toBe(false);
        const received = await text(socket).catch(() => '');
        expect(received.match(/^HTTP\/1\.1 /gm)?.length ?? 0, path).toBeLessThan(times);
      }
    },
  );
});
