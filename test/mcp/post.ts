import type { Api } from '../support/api.ts';

/** Sends a message of the protocol as a program without a client does. */
export const post = (api: Api, body: object, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${api.port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(body),
  });

/** The code of a problem document. */
export const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;

/** The message that calls a tool. */
export const call = (name: string, args: object = {}, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

/** An access token for `/mcp`. */
export async function anMcpToken(api: Api, account: { id: string }, scopes: string[]) {
  const grant = await api.aGrant(account, { scopes: scopes as never });
  await api.rows(`update oauth_grant set resource = 'mcp' where id = $1`, [grant.id]);
  return grant;
}
