import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Api } from '../support/api.ts';
import type { AClient } from '../support/factories.ts';
import { test as base, VERIFIER } from './console.ts';

/** An application of somebody, on the device of whoever uses it, which notes what comes to its redirect address. */
type App = AClient & {
  readonly arrivals: { readonly query: Record<string, string>; readonly headers: IncomingHttpHeaders }[];
};

/** With `app`. */
export const test = base.extend<{ app: App }>({
  app: [
    async ({ api }, use) => {
      const arrivals: App['arrivals'] = [];
      const server = createServer(({ url = '', headers }, res) => {
        const { pathname, searchParams } = new URL(url, 'http://app.test');
        if (pathname === '/callback') arrivals.push({ query: Object.fromEntries(searchParams), headers });
        res
          .setHeader('content-type', 'text/html')
          .end('<link rel="icon" href="data:,"><h1>Back in the application</h1>');
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo; // listening on TCP
      const client = await api.anOAuthClient({
        name: 'Planner',
        native: true,
        owner: await api.anAccount(),
        redirectUri: `http://127.0.0.1:${port}/callback`,
      });
      await use({ ...client, arrivals });
      server.close();
    },
    { scope: 'file' },
  ],
});

/** What the application gets for its code. */
export async function exchange(api: Api, { id, redirectUri }: AClient, code: string | undefined) {
  const answer = await fetch(`http://127.0.0.1:${api.port}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: id,
      redirect_uri: redirectUri,
      code: code ?? '',
      code_verifier: VERIFIER,
    }),
  });
  return (await answer.json()) as { access_token: string; scope: string }; // or a test fails on it
}
