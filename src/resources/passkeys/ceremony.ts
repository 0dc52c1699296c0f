import { randomBytes } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { Database } from '../../db/database.ts';
import { command } from '../../db/query.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Account } from '../../entities/index.ts';
import { newId } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { Services } from '../../service/services.ts';
import type { Credential } from './passkeys.queries.ts';
import type { RegistrationResponse, SignInResponse } from './passkeys.schema.ts';
import { MINUTE_MS, SECOND_MS } from '../../time.ts';
import type { Change } from '../../transactions/steps.ts';

/** Ed25519, ES256 and RS256 as COSE numbers, in order of preference. Authenticators and every runtime support them. */
export const ALGORITHMS = [-8, -7, -257];

// Loaded at the first use: it is an eighth of all modules, and most processes never verify a passkey.
const loadLibrary = () => import('@simplewebauthn/server');
const loadHelpers = () => import('@simplewebauthn/server/helpers');

/** The time limit for an authenticator. */
export const CHALLENGE_MS = 5 * MINUTE_MS;
const CHALLENGE_BYTES = 32;

/** Returns the relying party: the host and origin of BASE_URL, regardless of the Host header. */
export function getRelyingParty({ baseUrl }: Config): { id: string; origin: string } {
  const { hostname, origin } = new URL(baseUrl);
  return { id: hostname, origin };
}

/** Returns the user handle for authenticators: the account's id, which contains no personal data. */
export const createUserHandle = (accountId: string): string => Buffer.from(accountId).toString('base64url');

const insertChallenge = command<never>(
  'passkey_challenge_insert',
  `insert into passkey_challenge (id, challenge, account_id, session_id, created_at, expires_at)
   values ($1, $2, $3, $4, now(), now() + make_interval(secs => $5))`,
);

/** Creates a challenge for an authenticator. It is valid once, for five minutes, and for the session that asked for it. */
export function createChallenge(tx: Change, asker: { account: Account; sessionId: string } | null): string {
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
  const { account = null, sessionId = null } = asker ?? {};
  tx.later([insertChallenge, [newId('chl'), challenge, account?.id ?? null, sessionId, CHALLENGE_MS / SECOND_MS]]);
  return challenge;
}

// One statement, so that only one of several concurrent answers to a challenge is verified.
const consumeChallengeRow = command<{ id: string }>(
  'passkey_challenge_consume',
  `delete from passkey_challenge
   where challenge = $1 and account_id is not distinct from $2 and expires_at > now()
     and (session_id is null or session_id = $3)
   returning id`,
);

/** Consumes a challenge. @returns whether it was valid for this session (null: a sign-in), unexpired and unused */
async function consumeChallenge(
  db: Database,
  challenge: string,
  asker: Pick<Principal, 'accountId' | 'credentialId'> | null,
): Promise<boolean> {
  const rows = await db.run(consumeChallengeRow, [challenge, asker?.accountId ?? null, asker?.credentialId ?? null]);
  return rows.length > 0;
}

/**
 * Consumes the challenge of a response before the response is verified, so that each challenge can be answered only
 * once.
 */
export async function consumeResponseChallenge(
  db: Services['db'],
  { response }: RegistrationResponse | SignInResponse,
  asker: Principal | null,
): Promise<string> {
  const challenge = parseChallenge(response.clientDataJSON);
  if (challenge === undefined || !(await consumeChallenge(db, challenge, asker))) throw passkeyRejected();
  return challenge;
}

const CHALLENGE = /^[\w-]{43}$/;

function parseChallenge(clientDataJSON: string): string | undefined {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
    const challenge = typeof data === 'object' && data !== null && 'challenge' in data ? data.challenge : undefined;
    return typeof challenge === 'string' && CHALLENGE.test(challenge) ? challenge : undefined;
  } catch {
    return undefined;
  }
}

/** Verifies a registration. @returns its credential */
export async function verifyRegistration(
  config: Config,
  { id, rawId, type, response }: RegistrationResponse,
  challenge: string,
) {
  const { id: expectedRPID, origin: expectedOrigin } = getRelyingParty(config);
  const { clientDataJSON, attestationObject } = response;
  const { verifyRegistrationResponse } = await loadLibrary();
  const withoutAttestation = await createAttestationFilter();
  const { registrationInfo } = await mapErrors(async () =>
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
  if (registrationInfo === undefined || registrationInfo.credential.id !== id) throw passkeyRejected();
  return registrationInfo.credential;
}

/** Verifies the response to a sign-in challenge. @returns its signature counter; 0 if the authenticator has none */
export async function verifySignIn(
  config: Config,
  passkey: Credential,
  { id, rawId, type, response }: SignInResponse,
  challenge: string,
): Promise<number> {
  const { id: expectedRPID, origin: expectedOrigin } = getRelyingParty(config);
  const { userHandle, ...signed } = response;
  // WebAuthn 3, section 7.2: the user handle must be that of the passkey's account.
  if (userHandle && userHandle !== createUserHandle(passkey.accountId)) throw passkeyRejected();
  const { verifyAuthenticationResponse } = await loadLibrary();
  const { verified, authenticationInfo } = await mapErrors(() =>
    verifyAuthenticationResponse({
      response: { id, rawId, type, response: signed, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: true,
      credential: { id, publicKey: new Uint8Array(passkey.publicKey), counter: passkey.counter },
    }),
  );
  if (!verified) throw passkeyRejected();
  return authenticationInfo.newCounter;
}

/**
 * Creates a function that removes the attestation statement. None is requested, and the library would fetch the
 * revocation lists of its certificates from URLs that the caller chooses.
 */
async function createAttestationFilter(): Promise<(attestationObject: string) => string> {
  const { decodeAttestationObject, isoCBOR } = await loadHelpers();
  return (attestationObject) => {
    const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
    const bare = new Map<string, string | Uint8Array | Map<string, never>>([
      ['fmt', 'none'],
      ['attStmt', new Map<string, never>()],
      ['authData', decoded.get('authData')],
    ]);
    return Buffer.from(isoCBOR.encode(bare)).toString('base64url');
  };
}

/** Maps every error of the library to `passkey_refused`. */
async function mapErrors<Result>(verify: () => Promise<Result>): Promise<Result> {
  try {
    return await verify();
  } catch {
    throw passkeyRejected();
  }
}

/** Creates the error of all failures. It does not reveal which check failed. */
export const passkeyRejected = (): ProblemError => new ProblemError('passkey_refused');
