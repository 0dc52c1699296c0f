import { expect } from 'vitest';
import { aProofKey } from '../oauth/flow.ts';
import { approveAt } from '../oauth/visit.ts';
import type { Api } from '../support/api.ts';

export type Registered = { client_id: string; client_secret?: string };

/** Asks for a code, by default for `/mcp` and without a scope, approves all that is offered or selected, and exchanges it. */
export async function aToken(
  api: Api,
  { client_id: id, client_secret: secret }: Registered,
  redirectUri: string,
  {
    path = '/mcp',
    scope,
    selection = 'all',
  }: { path?: string; scope?: string; selection?: 'all' | 'preselected' } = {},
) {
  const { baseUrl } = api.services.config;
  const { verifier, challenge } = aProofKey();
  const url = new URL(`${baseUrl}/oauth/authorize`);
  const asked = { client_id: id, redirect_uri: redirectUri, resource: `${baseUrl}${path}` };
  url.search = new URLSearchParams({
    ...asked,
    response_type: 'code',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...(scope !== undefined && { scope }),
  }).toString();
  const answer = await approveAt(api, url, { selection });
  expect(answer.href.split('?')[0]).toBe(redirectUri);
  const response = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...asked,
      grant_type: 'authorization_code',
      code: answer.searchParams.get('code') ?? '',
      code_verifier: verifier,
      ...(secret !== undefined && { client_secret: secret }),
    }),
  });
  return (await response.json()) as { access_token: string; refresh_token: string; scope: string };
}

/** Calls a tool as the first thing that a client does with its token. */
export async function callFirstTool(
  { services }: Api,
  accessToken: string,
): Promise<readonly [status: number, text: string]> {
  const response = await fetch(`${services.config.baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${accessToken}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'listTeams', arguments: {} } }),
  });
  return [response.status, await response.text()];
}

/** The scopes that the challenge of `/mcp` names, with which most clients begin. */
export async function challengedScope({ services }: Api): Promise<string> {
  const { headers } = await fetch(`${services.config.baseUrl}/mcp`, { method: 'POST' });
  return /scope="([^"]+)"/.exec(headers.get('www-authenticate') ?? '')?.[1] ?? '';
}
