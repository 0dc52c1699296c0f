import { request } from 'node:http';
import type { Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';

/** The headers of a page of the console. */
export const headersOf = ({ headers, cookies }: Visitor): Record<string, string> => ({
  ...headers,
  cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
});

/** Sends pictures as the console does, as somebody who is signed in. */
export async function sender(api: Api, account: { id: string }) {
  const visitor = await signedIn(api, account);
  const put = (path: string, body: Buffer | string, type: string, more: Record<string, string> = {}) =>
    api.anonymous.send({
      method: 'PUT',
      path,
      headers: { ...headersOf(visitor), 'content-type': type, ...more },
      body,
    });
  const open = (body: Buffer, sent: number, type: string) => {
    const headers = { ...headersOf(visitor), 'content-type': type, 'content-length': String(body.length) };
    const req = request({
      host: '127.0.0.1',
      port: api.port,
      method: 'PUT',
      path: '/pictures/me',
      headers,
      agent: false,
    });
    // The tests end some of them.
    req.on('error', () => undefined);
    req.write(body.subarray(0, sent));
    return req;
  };
  return {
    visitor,
    put,
    own: (body: Buffer, type = 'image/png') => put('/pictures/me', body, type),
    ofTeam: (team: { id: string }, body: Buffer, type = 'image/png') => put(`/pictures/teams/${team.id}`, body, type),
    fetch: (url: unknown) => put('/pictures/me', JSON.stringify({ url }), 'application/json'),
    /** Sends the head and a part of the body, and returns the open request. */
    begin: (body: Buffer, sent = body.length) => open(body, sent, 'image/png'),
    beginFetch(url: string) {
      const body = Buffer.from(JSON.stringify({ url }));
      return open(body, body.length, 'application/json');
    },
  };
}

type Read = { readonly status: number; readonly headers: Headers; readonly bytes: Buffer };

/** Reads a picture without a credential. */
export async function read(api: Api, url: string, method = 'GET'): Promise<Read> {
  const res = await fetch(`http://127.0.0.1:${api.port}${new URL(url).pathname}`, { method });
  return { status: res.status, headers: res.headers, bytes: Buffer.from(await res.arrayBuffer()) };
}
