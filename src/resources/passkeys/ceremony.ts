import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject, isoCBOR } from '@simplewebauthn/server/helpers';
import type { Config } from '../../config.ts';
import type { Account, Passkey } from '../../entities/index.ts';
import { PasskeyChallenge } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import { consumeChallenge } from './passkeys.queries.ts';
import type { RegistrationResponse, SignInResponse } from './passkeys.schema.ts';
import { MINUTE_MS } from '../../time.ts';

/** Ed25519, ES256 and RS256 as COSE numbers, in order of preference. Authenticators and every runtime support them. */
export const ALGORITHMS = [-8, -7, -257];

/** How long an authenticator may take, in milliseconds. */
export const CHALLENGE_MS = 5 * MINUTE_MS;
const CHALLENGE_BYTES = 32;

/** Returns the relying party: the host and origin of BASE_URL, whatever host a request names. */
export function relyingParty({ baseUrl }: Config): { id: string; origin: string } {
  const { hostname, origin } = new URL(baseUrl);
  return { id: hostname, origin };
}

/** Returns the user handle for authenticators: the account's id, which contains no personal data. */
export const userHandleOf = (accountId: string): string => Buffer.from(accountId).toString('base64url');

/** Creates a challenge for an authenticator. It is valid once, for five minutes. */
export function newChallenge(tx: EntityManager, account: Account | null): string {
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
  tx.create(PasskeyChallenge, { challenge, account, expiresAt: new Date(Date.now() + CHALLENGE_MS) });
  return challenge;
}

/**
 * Consumes the challenge that a response answers, before anything else of the response is verified, so that
 * each response is tried once.
 */
export async function takeChallenge(
  db: Services['db'],
  { response }: RegistrationResponse | SignInResponse,
  accountId: string | null,
): Promise<string> {
  const challenge = challengeIn(response.clientDataJSON);
  if (challenge === undefined || !(await consumeChallenge(db, challenge, accountId))) throw refused();
  return challenge;
}

const CHALLENGE = /^[\w-]{43}$/;

function challengeIn(clientDataJSON: string): string | undefined {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
    const challenge = typeof data === 'object' && data !== null && 'challenge' in data ? data.challenge : undefined;
    return typeof challenge === 'string' && CHALLENGE.test(challenge) ? challenge : undefined;
  } catch {
    return undefined;
  }
}

/** Verifies a registration. @returns its credential */
export async function credentialOf(
  config: Config,
  { id, rawId, type, response }: RegistrationResponse,
  challenge: string,
) {
  const { id: expectedRPID, origin: expectedOrigin } = relyingParty(config);
  const { clientDataJSON, attestationObject } = response;
  const { registrationInfo } = await checked(async () =>
    verifyRegistrationResponse({
      response: {
        id,
        rawId,
        type,
        response: { clientDataJSON, attestationObject: withoutAttestation(attestationObject) },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }),
  );
  // The id that the browser sends is not signed, so it must equal the one in the authenticator's data.
  if (registrationInfo === undefined || registrationInfo.credential.id !== id) throw refused();
  return registrationInfo.credential;
}

/** Verifies the answer to a sign-in challenge. @returns its signature counter; 0 if the authenticator does not count */
export async function counterOf(
  config: Config,
  passkey: Passkey,
  { id, rawId, type, response }: SignInResponse,
  challenge: string,
): Promise<number> {
  const { id: expectedRPID, origin: expectedOrigin } = relyingParty(config);
  const { userHandle, ...signed } = response;
  // WebAuthn 3, section 7.2: the user handle has to be that of the passkey's account.
  if (userHandle && userHandle !== userHandleOf(passkey.account.id)) throw refused();
  const { verified, authenticationInfo } = await checked(() =>
    verifyAuthenticationResponse({
      response: { id, rawId, type, response: signed, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: true,
      credential: { id, publicKey: new Uint8Array(passkey.publicKey), counter: Number(passkey.counter) },
    }),
  );
  if (!verified) throw refused();
  return authenticationInfo.newCounter;
}

/**
 * Removes the statement from an attestation object. None is requested, and the library would fetch the revocation
 * lists of its certificates from URLs that the caller chooses.
 */
function withoutAttestation(attestationObject: string): string {
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const bare = new Map<string, string | Uint8Array | Map<string, never>>([
    ['fmt', 'none'],
    ['attStmt', new Map<string, never>()],
    ['authData', decoded.get('authData')],
  ]);
  return Buffer.from(isoCBOR.encode(bare)).toString('base64url');
}

/** Maps every error of the library to one. */
async function checked<Result>(verify: () => Promise<Result>): Promise<Result> {
  try {
    return await verify();
  } catch {
    throw refused();
  }
}

/** All failures are the same error, so that they reveal nothing. */
export const refused = (): ProblemError => new ProblemError('passkey_refused');
