import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { chainEvents } from '../../src/events/chain/append.ts';
import { emitNumbered } from '../../src/events/wake.ts';
import { startDispatcher, type Outcome } from '../../src/webhooks/dispatcher.ts';
import type { Api } from '../support/api.ts';
import { as } from '../trpc/console.ts';
import { PATIENCE_MS } from '../support/patience.ts';

export type Received = {
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly json: { id: string; type: string; timestamp: string; data: Record<string, unknown> | null };
};

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A receiver on this machine, which notes what it gets and answers as told, 200 by default. */
export async function aReceiver(answer: RequestListener = (_req, res) => res.end('ok')) {
  const received: Received[] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => {
      const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]));
      received.push({ headers, body, json: JSON.parse(body) as Received['json'] });
      answer(req, res);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // listening on TCP
  return { url: `http://127.0.0.1:${port}/hook`, received };
}

/** Runs a dispatcher until the test ends. */
export function dispatch(api: Api) {
  const outcomes: Outcome[] = [];
  const dispatcher = startDispatcher(api.services, silent, (outcome) => outcomes.push(outcome));
  onTestFinished(() => dispatcher.stop());
  return { ...dispatcher, outcomes };
}

/** Gives every event its number, for which the service has a worker. */
export async function numberEvents(api: Api): Promise<void> {
  await chainEvents(api.services, silent);
  emitNumbered(api.services.db);
}

export const eventually = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 });

/** A team with a signed-in owner and an endpoint at a URL. */
export async function anEndpoint(
  api: Api,
  url: string,
  fields: { types?: never[]; signature?: 'hmac' | 'ed25519' } = {},
) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const trpc = await as(api, owner);
  const { endpoint, secret } = await trpc.webhooks.create.mutate({ teamId: team.id, url, ...fields });
  return { owner, team, trpc, teamId: team.id, endpointId: endpoint.endpointId, endpoint, secret: secret ?? '' };
}

export const stateOf = (api: Api, endpointId: string) =>
  api.rows<{ state: string; attempts: number; event: string; reason: string | null }>(
    'select state, attempts, event, reason from webhook_delivery where endpoint_id = $1 order by id',
    [endpointId],
  );

/** Makes the next attempts due now, as if their time had come. */
export async function letTimePass(api: Api, endpointId: string): Promise<void> {
  await api.rows(
    `update webhook_delivery set due_at = now() - interval '1 ms' where endpoint_id = $1 and state = 'waiting'`,
    [endpointId],
  );
  await api.rows(
    `update webhook_queue set next_at = now() - interval '1 ms' where endpoint_id = $1 and next_at is not null`,
    [endpointId],
  );
}
