import { createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose';
import { explain } from './answers.ts';
import { RosterAccessError } from './errors.ts';
import type { TokenClient } from './tokens.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** How old a logout token can be, in seconds; Roster repeats a failed delivery with a new one. */
const AGE_MAX = 600;

type Options = {
  readonly tokens: TokenClient;
  readonly clientId: string;
  readonly fetch: typeof fetch;
};

/** Creates the check of logout tokens (OpenID Connect Back-Channel Logout 1.0, section 2.6). */
export function createLogoutTokenReader({ tokens, clientId, fetch }: Options) {
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined;

  /** @returns the session that ended. @throws RosterAccessError (400) if the token is not one of Roster for this application */
  return async (token: string): Promise<string> => {
    const { issuer, jwks_uri: jwksUri } = await tokens.discover();
    keys ??= createRemoteJWKSet(new URL(jwksUri), { [customFetch]: fetch });
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: clientId,
      algorithms: ['RS256'],
      typ: 'logout+jwt',
      requiredClaims: ['iat', 'jti', 'events', 'sid'],
      maxTokenAge: AGE_MAX,
      clockTolerance: 60,
    }).catch((error: unknown) => {
      throw isOfToken(error) ? noLogoutToken() : explain(error);
    });
    const { events, nonce, sid } = payload;
    if (
      typeof events !== 'object' ||
      events === null ||
      !(EVENT in events) ||
      nonce !== undefined ||
      typeof sid !== 'string'
    )
      throw noLogoutToken();
    return sid;
  };
}

const noLogoutToken = () => new RosterAccessError(400, 'invalid_request', 'This is no logout token of Roster.');

/** Whether an error says something about the token, and not about the way to the keys. */
const isOfToken = (error: unknown): boolean =>
  error instanceof errors.JOSEError &&
  ![errors.JOSEError.code, errors.JWKSTimeout.code, errors.JWKSInvalid.code].includes(error.code);
