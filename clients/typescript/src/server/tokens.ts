import * as oauth from 'oauth4webapi';
import type { AnyPermission } from '../permissions.ts';
import { answerInvalid, explain, isError, readAnswer } from './answers.ts';
import { RosterAccessError } from './errors.ts';

/** What the application knows of Roster, and how it proves who it is. */
export type Registration = {
  readonly baseUrl: URL;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly fetch: typeof fetch;
};

/** The team in which the user works. `permissions` are those of Roster and of your product. */
export type SessionTeam = {
  readonly id: string;
  readonly slug: string;
  readonly externalId: string | null;
  readonly role: string;
  readonly permissions: readonly AnyPermission[];
};

/** The claims of an id token of Roster. Those of `profile` and `email` are there if these scopes were asked for. */
export type UserClaims = {
  readonly sub: string;
  readonly sid: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly given_name?: string;
  readonly family_name?: string;
  readonly picture?: string;
  readonly locale?: string;
  /** In seconds since the epoch. */
  readonly auth_time?: number;
  readonly amr?: readonly string[];
  readonly roster_team?: SessionTeam;
};

export type TokenSet = {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly idToken: string;
  readonly claims: UserClaims;
};

/** What is kept while the user is at Roster. */
export type PendingSignIn = {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly returnTo: string;
  readonly team?: string;
  readonly maxAge?: number;
  /** When it began, in seconds since the epoch. */
  readonly begunAt: number;
  /** Who has to come back, if somebody is signed in already. */
  readonly account?: string;
};

export type AuthorizationRequest = {
  readonly returnTo: string;
  readonly scope: string;
  readonly team?: string;
  readonly prompt?: string;
  readonly maxAge?: number;
  readonly loginHint?: string;
  readonly account?: string;
  /** Whether the sign-in is begun anew, which `state` then says. */
  readonly isRepeated?: boolean;
};

/** How `state` begins in a sign-in that was begun anew. */
export const REPEATED = 'again.';

/** How much the clocks of the application and of Roster can differ, in seconds. */
const CLOCK_TOLERANCE = 60;
const TIMEOUT_MS = 10_000;

/** The addresses of Roster that the kit uses. */
const ADDRESSES = ['authorization_endpoint', 'token_endpoint', 'end_session_endpoint', 'jwks_uri'] as const;

/** What Roster says of itself. */
type Metadata = oauth.AuthorizationServer & Readonly<Record<(typeof ADDRESSES)[number], string>>;

/** Creates the OpenID Connect client of an application with a secret. */
export function createTokenClient({ baseUrl, clientId, clientSecret, redirectUri, fetch }: Registration) {
  const client = { client_id: clientId, [oauth.clockTolerance]: CLOCK_TOLERANCE };
  const authentication = oauth.ClientSecretPost(clientSecret);
  const request = {
    [oauth.allowInsecureRequests]: isLoopback(baseUrl),
    signal: () => AbortSignal.timeout(TIMEOUT_MS),
    [oauth.customFetch]: fetch as (url: string, init: object) => Promise<Response>, // the same, in the types of the library
  };

  let discovered: Promise<Metadata> | undefined;
  const discover = (): Promise<Metadata> =>
    (discovered ??= oauth
      .discoveryRequest(baseUrl, request)
      .then(async (response) => checkMetadata(await oauth.processDiscoveryResponse(baseUrl, response)))
      .catch((error: unknown) => {
        discovered = undefined; // so that the next call tries again
        throw explain(error);
      }));

  /** Checks the answer of the token endpoint and the signature of its id token. */
  async function toTokenSet(
    server: Metadata,
    result: oauth.TokenEndpointResponse,
    response: Response,
    formerRefreshToken?: string,
  ): Promise<TokenSet> {
    const claims = oauth.getValidatedIdTokenClaims(result);
    const { access_token: accessToken, id_token: idToken, expires_in: seconds = 0 } = result;
    const refreshToken = result.refresh_token ?? formerRefreshToken;
    if (
      claims === undefined ||
      idToken === undefined ||
      typeof claims['sid'] !== 'string' ||
      refreshToken === undefined
    )
      throw answerInvalid('it has no id token or refresh token. Is this a first-party client with a secret?');
    await oauth.validateApplicationLevelSignature(server, response, request).catch((error: unknown) => {
      if (!isError(error, oauth.KEY_SELECTION)) throw error;
      // The keys were rotated since they were read, for which the library waits a minute: a copy has none yet.
      const anew = { ...server };
      discovered = Promise.resolve(anew);
      return oauth.validateApplicationLevelSignature(anew, response, request);
    });
    return { accessToken, refreshToken, idToken, expiresAt: Date.now() + seconds * 1000, claims: selectClaims(claims) };
  }

  return {
    discover,

    async authorize(asked: AuthorizationRequest): Promise<{ url: URL; pending: PendingSignIn }> {
      const { authorization_endpoint: endpoint } = await discover();
      const { returnTo, team, maxAge, account } = asked;
      const state = (asked.isRepeated === true ? REPEATED : '') + oauth.generateRandomState();
      const nonce = oauth.generateRandomNonce();
      const codeVerifier = oauth.generateRandomCodeVerifier();
      const url = new URL(endpoint);
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: asked.scope,
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        team,
        prompt: asked.prompt,
        max_age: maxAge?.toString(),
        login_hint: account ?? asked.loginHint,
      };
      for (const [name, value] of Object.entries(parameters))
        if (value !== undefined) url.searchParams.set(name, value);
      const kept = {
        ...(team !== undefined && { team }),
        ...(maxAge !== undefined && { maxAge }),
        ...(account !== undefined && { account }),
      };
      const begunAt = Math.floor(Date.now() / 1000);
      return { url, pending: { state, nonce, codeVerifier, returnTo, begunAt, ...kept } };
    },

    /**
     * Exchanges the code of a callback.
     * @returns undefined if the code cannot be used any more
     * @throws AuthorizationResponseError of `oauth4webapi` if Roster sent an error
     * @throws RosterAccessError
     */
    async exchange(url: URL, { state, nonce, codeVerifier }: PendingSignIn): Promise<TokenSet | undefined> {
      const server = await discover();
      const answer = readAnswer(url, () => oauth.validateAuthResponse(server, client, url, state));
      try {
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          answer,
          redirectUri,
          codeVerifier,
          request,
        );
        const result = await oauth.processAuthorizationCodeResponse(server, client, response, {
          expectedNonce: nonce,
          requireIdToken: true,
        });
        return await toTokenSet(server, result, response);
      } catch (error) {
        if (hasCode(error, 'invalid_grant')) return undefined;
        throw explain(error);
      }
    },

    /**
     * Gets new tokens of the same session, also for another team of the user.
     * @returns undefined if the session has ended
     * @throws RosterAccessError if Roster does not answer, or the user cannot enter the team
     */
    async refresh(refreshToken: string, team?: string): Promise<TokenSet | undefined> {
      const server = await discover();
      const additionalParameters = team === undefined ? {} : { team };
      try {
        const response = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, {
          ...request,
          additionalParameters,
        });
        const result = await oauth.processRefreshTokenResponse(server, client, response);
        return await toTokenSet(server, result, response, refreshToken);
      } catch (error) {
        if (hasCode(error, 'invalid_grant')) return undefined;
        if (team !== undefined && hasCode(error, 'access_denied', 'invalid_request'))
          throw new RosterAccessError(404, 'team_not_found', 'The user is no active member of that team.');
        throw explain(error);
      }
    },
  };
}

export type TokenClient = ReturnType<typeof createTokenClient>;

/**
 * Whether the last proof is as recent as was asked for. It counts from the beginning of the sign-in, because a user can take
 * minutes to confirm.
 */
export const isProven = ({ maxAge, begunAt }: PendingSignIn, { auth_time: provedAt = 0 }: UserClaims): boolean =>
  maxAge === undefined || provedAt >= begunAt - maxAge - CLOCK_TOLERANCE;

/** @throws RosterAccessError (502) */
function checkMetadata(server: oauth.AuthorizationServer): Metadata {
  const missing = ADDRESSES.find((name) => !URL.canParse(server[name] ?? ''));
  if (missing !== undefined) throw answerInvalid(`its metadata have no ${missing}`);
  return server as Metadata; // with the addresses, as was just checked
}

/** Whether Roster refused with one of these codes (RFC 6749, section 5.2). */
const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof oauth.ResponseBodyError && codes.includes(error.error);

const CLAIMS =
  'sub sid email email_verified name given_name family_name picture locale auth_time amr roster_team'.split(' ');

const selectClaims = (claims: oauth.IDToken): UserClaims =>
  Object.fromEntries(
    CLAIMS.flatMap((name) => (claims[name] === undefined ? [] : [[name, claims[name]]])),
  ) as unknown as UserClaims; // Roster's own token, whose signature is checked

/** Whether http is acceptable, because no other machine can read it. */
export const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && (/^(?:.+\.)?localhost$/.test(hostname) || ['127.0.0.1', '[::1]'].includes(hostname));
