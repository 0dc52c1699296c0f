import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { pino } from 'pino';
import { describe, expect, onTestFinished } from 'vitest';
import type { HttpServices } from '../../src/http/http-services.ts';
import { createSourceReader } from '../../src/http/client-address.ts';
import { closeServer, listen } from '../../src/http/server.ts';
import { buildService } from '../../src/service/build.ts';
import { test, type Api } from '../support/api.ts';

const FAULT = new Error('a step failed');
const throwing = (): never => {
  throw FAULT;
};
const rejecting = (): Promise<never> => Promise.reject(FAULT);
const ignore = (): void => undefined;

/** The service on a free port, with some of its parts replaced. */
async function serve(api: Api, broken: (http: HttpServices) => Partial<HttpServices>): Promise<number> {
  const service = await buildService(api.services, pino({ level: 'silent' }), {
    replace(created) {
      const http = {
        ...created,
        log: { request: ignore, failure: ignore },
        clientAddress: createSourceReader(1).address,
      };
      return { ...http, ...broken(http) };
    },
  });
  await listen(service.server, 0, '127.0.0.1');
  onTestFinished(async () => {
    await closeServer(service.server, 0);
    await service.flush();
    await service.close();
  });
  return (service.server.address() as AddressInfo).port; // listening on TCP
}

type Outcome = { readonly status: number; readonly requestId: string | undefined; readonly text: string };

async function send(port: number, method: string, path: string, secret: string): Promise<Outcome> {
  const body = method === 'POST' ? '{}' : undefined;
  const req = request({
    port,
    method,
    path,
    headers: {
      authorization: `Bearer ${secret}`,
      ...(body !== undefined && {
        'content-type': path.startsWith('/oauth') ? 'application/x-www-form-urlencoded' : 'application/json',
      }),
    },
  }).end(body);
  const [res] = (await once(req, 'response')) as [IncomingMessage]; // what the event passes
  let text = '';
  for await (const chunk of res) text += String(chunk);
  return { status: res.statusCode ?? 0, requestId: res.headers['x-request-id'] as string | undefined, text };
}

const BROKEN: Record<string, (http: HttpServices) => Partial<HttpServices>> = {
  'the client address throws': () => ({ clientAddress: throwing }),
  'the limiter throws': ({ limiter }) => ({ limiter: { ...limiter, consume: throwing, peek: throwing } }),
  'the limiter rejects': ({ limiter }) => ({ limiter: { ...limiter, consume: rejecting, peek: rejecting } }),
  'counting of attempts rejects': ({ attempts }) => ({
    attempts: {
      ...attempts,
      oauthByAddress: { consume: rejecting, refund: rejecting },
      byAddress: { consume: rejecting, refund: rejecting },
    },
  }),
  'recording of last uses throws': ({ usage }) => ({ usage: { ...usage, note: throwing, noteFirstUse: throwing } }),
  'recording of denials throws': ({ denials }) => ({ denials: { ...denials, note: throwing } }),
  'the access log throws': () => ({ log: { request: throwing, failure: throwing } }),
  'the failure log throws while the limiter rejects': ({ limiter }) => ({
    limiter: { ...limiter, consume: rejecting, peek: rejecting },
    log: { request: throwing, failure: throwing },
  }),
  'the database throws': ({ services }) => ({ services: { ...services, db: { ...services.db, read: throwing } } }),
  'the database rejects': ({ services }) => ({ services: { ...services, db: { ...services.db, read: rejecting } } }),
  'the location throws': () => ({ locateClient: throwing }),
  'everything throws': ({ limiter, usage, denials, operatorReads, services }) => ({
    clientAddress: throwing,
    limiter: { ...limiter, consume: throwing, peek: throwing },
    usage: { ...usage, note: throwing },
    denials: { ...denials, note: throwing },
    operatorReads: { ...operatorReads, note: throwing },
    log: { request: throwing, failure: throwing },
    services: { ...services, db: { ...services.db, read: throwing } },
  }),
};

const REQUESTS: readonly [method: string, path: string][] = [
  ['GET', '/api/v1/me'],
  ['GET', '/api/v1/teams/unknown'],
  ['POST', '/api/v1/teams'],
  ['GET', '/api/v1/no-such-path'],
  ['GET', '/trpc/getMe'],
  ['POST', '/trpc/createTeam'],
  ['POST', '/trpc/auth.signIn'],
  ['OPTIONS', '/trpc/getMe'],
  ['PUT', '/trpc/getMe'],
  ['GET', '/healthz'],
  ['GET', '/readyz'],
  ['GET', '/docs'],
  ['GET', '/no-such-page'],
  ['GET', '/%'],
  ['GET', '/oauth/authorize'],
  ['POST', '/oauth/token'],
  ['POST', '/oauth/revoke'],
  ['GET', '/.well-known/oauth-authorization-server'],
];

// An unhandled rejection or exception would also fail the file, as it would end the service.
describe.each(Object.entries(BROKEN))('when %s', (_case, broken) => {
  test('every request is still answered', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount(), { scopes: ['profile:read', 'teams:write'] });
    const port = await serve(api, broken);
    for (const [method, path] of REQUESTS) {
      for (const credential of [secret, 'unknown']) {
        const { status, requestId, text } = await send(port, method, path, credential);
        expect(status, `${method} ${path}`).toBeGreaterThanOrEqual(200);
        expect(requestId, `${method} ${path}`).toMatch(/^[\w-]+$/);
        expect(text, `${method} ${path}`).not.toContain(FAULT.message);
      }
    }
  });

  test('a request that is no HTTP is still answered', async ({ api }) => {
    const port = await serve(api, broken);
    const socket = connect(port, '127.0.0.1');
    socket.write('BROKEN\r\n\r\n');
    const [heard] = (await once(socket, 'data')) as [Buffer]; // no encoding is set
    expect(heard.toString()).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });
});
