import * as oauth from 'oauth4webapi';
import type { Scope } from './generated/operations.ts';

export type OAuthOptions = {
  /** Scheme, host and port of the service, such as `https://teams.example.com`. */
  readonly baseUrl: string;
  readonly clientId: string;
  /** Only for clients that run on a server. */
  readonly clientSecret?: string;
  readonly redirectUri: string;
  /** What the tokens are for. Default: the REST API. */
  readonly resource?: 'api' | 'mcp';
  readonly fetch?: typeof fetch;
};

/** What to keep, in the session of the browser, until it comes back from the authorization server. */
export type PendingAuthorization = { readonly state: string; readonly codeVerifier: string };

/** Tokens of a user. Store them encrypted, and again after each refresh. */
export type OAuthTokens = {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** What the user has granted, which can be other than what was asked for. */
  readonly scopes: readonly string[];
};

const EXPIRY_MARGIN_MS = 30_000;
const PATHS = { api: '/api/v1', mcp: '/mcp' } as const;

/** Creates the OAuth 2.1 client of an application: authorization code with PKCE, refresh, revocation. */
export function createOAuth(options: OAuthOptions) {
  const { baseUrl, clientId, clientSecret, redirectUri, resource = 'api' } = options;
  const issuer = new URL(baseUrl);
  const client = { client_id: clientId };
  const authentication = clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(clientSecret);
  const request = {
    [oauth.allowInsecureRequests]: isLoopback(issuer),
    // The same, in the types of the library.
    ...(options.fetch && { [oauth.customFetch]: options.fetch as (url: string, init: object) => Promise<Response> }),
  };
  const withResource = { ...request, additionalParameters: { resource: new URL(PATHS[resource], issuer).href } };

  let discovered: Promise<oauth.AuthorizationServer> | undefined;
  const discover = () =>
    (discovered ??= oauth
      .discoveryRequest(issuer, { ...request, algorithm: 'oauth2' })
      .then((response) => oauth.processDiscoveryResponse(issuer, response))
      .catch((error: unknown) => {
        discovered = undefined; // so that the next call tries again
        throw error;
      }));

  async function refresh(refreshToken: string): Promise<OAuthTokens> {
    const server = await discover();
    const response = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, withResource);
    return toTokens(await oauth.processRefreshTokenResponse(server, client, response));
  }

  return {
    /** Returns the URL to send the browser to, and what to keep until it comes back. */
    async authorize({ scopes }: { scopes: readonly Scope[] }): Promise<PendingAuthorization & { url: URL }> {
      const { authorization_endpoint: endpoint = '' } = await discover();
      const [state, codeVerifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
      const url = new URL(endpoint);
      url.search = new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...withResource.additionalParameters,
      }).toString();
      return { url, state, codeVerifier };
    },

    /**
     * Exchanges the code in the URL that the browser came back to. Checks `state` and `iss`.
     * @throws AuthorizationResponseError of `oauth4webapi` if the user has denied it
     */
    async exchange(url: URL, { state, codeVerifier }: PendingAuthorization): Promise<OAuthTokens> {
      const server = await discover();
      const answer = oauth.validateAuthResponse(server, client, url, state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        answer,
        redirectUri,
        codeVerifier,
        withResource,
      );
      return toTokens(await oauth.processAuthorizationCodeResponse(server, client, response));
    },

    refresh,

    /**
     * Returns a `credential` for `createRoster` that refreshes the access token shortly before it expires. Concurrent
     * calls share one refresh, because a refresh token can be used once. Keep one for each user and process.
     * @param save stores the new tokens. The request waits for it
     */
    createCredential(tokens: OAuthTokens, save: (tokens: OAuthTokens) => void | Promise<void>): () => Promise<string> {
      let present = tokens;
      let isSaved = true;
      let renewing: Promise<void> | undefined;
      const isExpiring = () => present.refreshToken !== undefined && Date.now() > present.expiresAt - EXPIRY_MARGIN_MS;
      async function renew(): Promise<void> {
        if (isSaved && present.refreshToken !== undefined) present = await refresh(present.refreshToken);
        isSaved = false; // until `save` succeeds, each call tries it again
        await save(present);
        isSaved = true;
      }
      return async () => {
        if (!isSaved || isExpiring()) await (renewing ??= renew().finally(() => (renewing = undefined)));
        return present.accessToken;
      };
    },

    /** Signs the user out of this application: revokes the refresh token, with the tokens and keys made through it. */
    async revoke({ accessToken, refreshToken }: OAuthTokens): Promise<void> {
      const server = await discover();
      const token = refreshToken ?? accessToken;
      const response = await oauth.revocationRequest(server, client, authentication, token, request);
      await oauth.processRevocationResponse(response);
    },
  };
}

const toTokens = ({
  access_token: accessToken,
  refresh_token: refreshToken,
  expires_in: seconds = 0,
  scope = '',
}: oauth.TokenEndpointResponse): OAuthTokens => ({
  accessToken,
  refreshToken,
  expiresAt: Date.now() + seconds * 1000,
  scopes: scope.split(' ').filter(Boolean),
});

/** Whether http is acceptable, because no other machine can read it. */
const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && (/^(?:.+\.)?localhost$/.test(hostname) || ['127.0.0.1', '[::1]'].includes(hostname));
