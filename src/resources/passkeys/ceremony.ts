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

/** Ed25519, ES256 and RS256 as COSE numbers, the preferred one first: what authenticators can do, and nothing that depends on the runtime. */
export const ALGORITHMS = [-8, -7, -257];

/** How long an authenticator may take, in milliseconds. */
export const CHALLENGE_MS = 5 * MINUTE_MS;
const CHALLENGE_BYTES = 32;

/** Passkeys are for the host of BASE_URL and answer on its origin, whatever a request calls this service. */
export function relyingParty({ baseUrl }: Config): { id: string; origin: string } {
  const { hostname, origin } = new URL(baseUrl);
  return { id: hostname, origin };
}

/** The account as authenticators know it: its id, which says nothing about the person. */
export const userHandleOf = (accountId: string): string => Buffer.from(accountId).toString('base64url');

/** A question to an authenticator, kept until it is answered or five minutes are over. */
export function newChallenge(tx: EntityManager, account: Account | null): string {
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
  tx.create(PasskeyChallenge, { challenge, account, expiresAt: new Date(Date.now() + CHALLENGE_MS) });
  return challenge;
}

/**
 * Uses up the challenge that a response says it answers, before anything else of the response is
 * looked at: a response is tried once, whatever comes of it.
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

/** The new credential of a registration that answers the challenge well. */
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
  // What the browser calls the credential is not signed; what the authenticator says it is, is what will sign.
  if (registrationInfo === undefined || registrationInfo.credential.id !== id) throw refused();
  return registrationInfo.credential;
}

/** The counter of a good answer to the challenge, higher than the passkey's where its authenticator counts. */
export async function counterOf(
  config: Config,
  passkey: Passkey,
  { id, rawId, type, response }: SignInResponse,
  challenge: string,
): Promise<number> {
  const { id: expectedRPID, origin: expectedOrigin } = relyingParty(config);
  const { userHandle, ...signed } = response;
  // WebAuthn 3, section 7.2: whoever the authenticator means has to be the owner of its key.
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
 * The attestation object without its statement. Nobody's is asked for; and those who send one bring
 * certificates, whose revocation lists the library would fetch from wherever they say.
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

/** The library throws what is wrong with a response, in as many ways as there are. */
async function checked<Result>(verify: () => Promise<Result>): Promise<Result> {
  try {
    return await verify();
  } catch {
    throw refused();
  }
}

/** Whatever is wrong with an answer, it is one refusal. */
export const refused = (): ProblemError => new ProblemError('passkey_refused');
