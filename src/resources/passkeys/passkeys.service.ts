import { randomBytes } from 'node:crypto';
import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject, isoCBOR } from '@simplewebauthn/server/helpers';
import { lockAccount } from '../../access/account.ts';
import type { Principal } from '../../access/principal.ts';
import { addressWindow, attempt, forgive } from '../../access/throttle.ts';
import type { Config } from '../../config.ts';
import { Account, Passkey, PasskeyChallenge, Session } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../rpc/context.ts';
import type { Visitor } from '../../rpc/visitor.ts';
import { openSession, startSession } from '../sessions/sessions.service.ts';
import { consumeChallenge, renamePasskey as renameRow } from './passkeys.queries.ts';
import type { RegistrationResponse, SignInResponse } from './passkeys.schema.ts';

const PASSKEYS_MAX = 20;
const CHALLENGE_MS = 5 * 60 * 1000;
const CHALLENGE_BYTES = 32;

/** Ed25519, ES256 and RS256 as COSE numbers, the preferred one first: what authenticators can do, and nothing that depends on the runtime. */
const ALGORITHMS = [-8, -7, -257];

/** What a new passkey is to be like. The challenge belongs to this account. */
export async function offerRegistration({ config, db }: Services, { accountId }: Principal) {
  return db.em().transactional(async (tx) => {
    const account = await lockAccount(tx, accountId);
    const passkeys = await tx.find(Passkey, { account: account.id });
    requireRoom(passkeys.length);
    const name = account.email ?? account.id;
    return {
      challenge: newChallenge(tx, account),
      rp: { id: relyingParty(config).id, name: 'Roster' },
      user: {
        id: userHandleOf(account.id),
        name,
        displayName: [account.firstName, account.lastName].filter(Boolean).join(' ') || name,
      },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
      timeout: CHALLENGE_MS,
      attestation: 'none' as const,
      authenticatorSelection: {
        // Nobody is asked for a name at sign-in, so the authenticator has to know the account; and as nothing else
        // is asked for either, it has to make sure of the person: found or stolen, it is of no use by itself.
        residentKey: 'required' as const,
        requireResidentKey: true as const,
        userVerification: 'required' as const,
      },
      excludeCredentials: passkeys.map(({ credentialId, transports }) => ({
        type: 'public-key' as const,
        id: credentialId,
        transports,
      })),
    };
  });
}

export async function registerPasskey(
  { config, db }: Services,
  principal: Principal,
  name: string,
  response: RegistrationResponse,
): Promise<Passkey> {
  const challenge = await takeChallenge(db.read, response, principal.accountId);
  const credential = await credentialOf(config, response, challenge);
  try {
    return await db.em().transactional(async (tx) => {
      const account = await lockAccount(tx, principal.accountId);
      await requireSession(tx, principal);
      requireRoom(await tx.count(Passkey, { account: account.id }));
      return tx.create(Passkey, {
        account,
        name,
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey),
        counter: credential.counter,
        transports: response.response.transports ?? [],
      });
    });
  } catch (error) {
    // The credential is registered already, for this account or for another one.
    throw error instanceof UniqueConstraintViolationException ? refused() : error;
  }
}

/**
 * A question that any passkey of anybody answers. The sign-in page asks whenever it is opened, so asking
 * is bounded by the rate limit alone, and only answers count as attempts.
 */
export async function offerSignIn({ config, db }: Services) {
  const challenge = await db.em().transactional(async (tx) => newChallenge(tx, null));
  return {
    challenge,
    rpId: relyingParty(config).id,
    timeout: CHALLENGE_MS,
    userVerification: 'required' as const,
  };
}

/** Signs in whoever the passkey belongs to. Whatever is wrong, also with the account, is one refusal. */
export async function signInWithPasskey(
  services: Services,
  visitor: Visitor,
  replaced: Principal | null,
  response: SignInResponse,
): Promise<void> {
  const { config, db } = services;
  const window = addressWindow(visitor.attempts, 'sign-in', visitor.addressBucket);
  await attempt(window);
  const challenge = await takeChallenge(db.read, response, null);
  const passkey = await db.em().findOne(Passkey, { credentialId: response.id });
  if (passkey === null) throw refused();
  const counter = await counterOf(config, passkey, response, challenge);

  const session = await db.em().transactional(async (tx) => {
    // The account's row, so that it is not disabled or deleted meanwhile.
    const account = await tx.findOne(Account, passkey.account.id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (account === null || account.disabledAt) throw refused();
    const stepsForward = counter === 0 ? { counter: 0 } : { counter: { $lt: counter } };
    const used = await tx.nativeUpdate(
      Passkey,
      { id: passkey.id, ...stepsForward },
      { counter, lastUsedAt: new Date() },
    );
    if (used === 0) throw refused();
    return startSession(tx, services, { account, authenticationType: 'passkey', visitor, replaced });
  });
  await forgive(window);
  openSession(visitor, session);
}

export async function renamePasskey({ db }: Services, { accountId }: Principal, id: string, name: string) {
  const passkey = await renameRow(db.read, accountId, id, name);
  if (passkey === null) throw new ProblemError('passkey_not_found');
  return passkey;
}

/** Removes a passkey, but never the last way into the account. */
export async function removePasskey({ db }: Services, { accountId }: Principal, id: string): Promise<void> {
  await db.em().transactional(async (tx) => {
    const account = await lockAccount(tx, accountId);
    const passkey = await tx.findOne(Passkey, { id, account: account.id });
    if (passkey === null) throw new ProblemError('passkey_not_found');
    if (!account.passwordHash && (await tx.count(Passkey, { account: account.id })) === 1) {
      throw new ProblemError(
        'validation_failed',
        'It is the only way to sign in. Set a password or add another passkey first.',
        { errors: [{ in: 'body', pointer: '/id', code: 'invalid_value' }] },
      );
    }
    tx.remove(passkey);
  });
}

export const presentPasskey = (passkey: Passkey) => ({
  id: passkey.id,
  name: passkey.name,
  createdAt: passkey.createdAt.toISOString(),
  lastUsedAt: passkey.lastUsedAt?.toISOString() ?? null,
});

/** Passkeys are for the host of BASE_URL and answer on its origin, whatever a request calls this service. */
function relyingParty({ baseUrl }: Config): { id: string; origin: string } {
  const { hostname, origin } = new URL(baseUrl);
  return { id: hostname, origin };
}

/** The account as authenticators know it: its id, which says nothing about the person. */
const userHandleOf = (accountId: string): string => Buffer.from(accountId).toString('base64url');

/**
 * Under the account's lock: whoever ended the session meanwhile, by a new password or a proof of the
 * mailbox, wants nothing to be left behind of whoever had it.
 */
async function requireSession(tx: EntityManager, { credentialId }: Principal): Promise<void> {
  const isActive = (await tx.count(Session, { id: credentialId, revokedAt: null })) > 0;
  if (!isActive) throw new ProblemError('credential_invalid');
}

function requireRoom(count: number): void {
  if (count < PASSKEYS_MAX) return;
  throw new ProblemError('validation_failed', `An account has at most ${PASSKEYS_MAX} passkeys. Remove one first.`, {
    errors: [{ in: 'body', pointer: '', code: 'max_length', params: { max: PASSKEYS_MAX } }],
  });
}

function newChallenge(tx: EntityManager, account: Account | null): string {
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
  tx.create(PasskeyChallenge, { challenge, account, expiresAt: new Date(Date.now() + CHALLENGE_MS) });
  return challenge;
}

/**
 * Uses up the challenge that a response says it answers, before anything else of the response is
 * looked at: a response is tried once, whatever comes of it.
 */
async function takeChallenge(
  read: Services['db']['read'],
  { response }: RegistrationResponse | SignInResponse,
  accountId: string | null,
): Promise<string> {
  const challenge = challengeIn(response.clientDataJSON);
  if (challenge === undefined || !(await consumeChallenge(read, challenge, accountId))) throw refused();
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

async function credentialOf(config: Config, { id, rawId, type, response }: RegistrationResponse, challenge: string) {
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
async function counterOf(
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

const refused = (): ProblemError => new ProblemError('passkey_refused');
