import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onTestFinished } from 'vitest';
import type { Era } from './clients.ts';

type Stored = { client?: object; tokens?: { access_token: string }; verifier?: string; discovery?: object };

/**
 * A client of the official SDK that knows nothing but a URL: discovery, registration, authorization code with PKCE,
 * refresh and step-up are the work of the SDK.
 * @param redirectUri where the answer of the authorization server arrives
 * @param consent opens an authorization URL, and returns the URL that it led back to
 */
export function createSignedOutClient(era: Era, url: URL, redirectUri: string, consent: (url: string) => Promise<URL>) {
  const stored: Stored = {};
  const consents: string[] = [];
  let answer: URL | undefined;
  let isRefused = false;
  const authProvider = {
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: `SDK of ${era}`,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => stored.client as never,
    saveClientInformation: (client: object) => void (stored.client = client),
    tokens: () => stored.tokens as never,
    saveTokens: (tokens: { access_token: string }) => void (stored.tokens = tokens),
    saveCodeVerifier: (verifier: string) => void (stored.verifier = verifier),
    codeVerifier: () => stored.verifier ?? '',
    invalidateCredentials: (kind: string) => {
      if (kind === 'all' || kind === 'tokens') delete stored.tokens;
      if (kind === 'all' || kind === 'client') delete stored.client;
    },
    saveDiscoveryState: (discovery: object) => void (stored.discovery = discovery),
    discoveryState: () => stored.discovery as never,
    redirectToAuthorization: async (to: URL) => {
      if (isRefused) throw new Error('There is no consent.');
      consents.push(to.searchParams.get('scope') ?? '');
      answer = await consent(to.href);
    },
  };
  const open = () => {
    const info = { name: 'test', version: '1.0.0' };
    return era === '2025-11-25'
      ? { client: new OldClient(info), transport: new OldTransport(url, { authProvider }) }
      : { client: new NewClient(info), transport: new NewTransport(url, { authProvider }) };
  };
  let { client, transport } = open();
  onTestFinished(() => client.close());

  /** Runs a call, and again after each consent that it asks for. */
  async function withConsent<Result>(call: () => Promise<Result>): Promise<Result> {
    for (let consentsLeft = 3; ; consentsLeft -= 1) {
      try {
        return await call();
      } catch (error) {
        if (answer === undefined || consentsLeft === 0) throw error;
        const { searchParams } = answer;
        answer = undefined;
        if (transport instanceof NewTransport) await transport.finishAuth(searchParams);
        else await transport.finishAuth(searchParams.get('code') ?? '');
      }
    }
  }

  return {
    accessToken: () => stored.tokens?.access_token,
    /** Lets every further authorization request fail. */
    refuseConsent: () => void (isRefused = true),
    /** The scopes of each authorization request. */
    consents,
    connect: () =>
      withConsent(async () => {
        ({ client, transport } = open());
        await client.connect(transport as never); // each client with the transport of its own package
      }),
    listTools: async () => (await client.listTools()).tools,
    callTool: (name: string, args: Record<string, unknown> = {}) =>
      withConsent(async () => client.callTool({ name, arguments: args })),
  };
}
