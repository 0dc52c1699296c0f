import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { record } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { lockOne } from '../../transactions/locks.ts';
import { transaction } from '../../transactions/transaction.ts';
import { requireVerifiedEmail, withAccount } from '../../transactions/with-account.ts';
import type { Principal } from '../../auth/principal.ts';
import { addressAttemptLimit, consumeAttempt, passwordAttemptLimit, refundAttempt } from '../../rate-limit/attempts.ts';
import { Passkey } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { requireRecentProof } from '../../auth/recent-proof.ts';
import { openSession, setProven, startSession } from '../sessions/sessions.service.ts';
import {
  ALGORITHMS,
  CHALLENGE_MS,
  verifySignIn,
  verifyRegistration,
  createChallenge,
  passkeyRejected,
  getRelyingParty,
  consumeResponseChallenge,
  createUserHandle,
} from './ceremony.ts';
import { renamePasskey as renameRow } from './passkeys.queries.ts';
import type { RegistrationResponse, SignInResponse } from './passkeys.schema.ts';
import { notify } from '../../jobs/notify.ts';

const PASSKEYS_MAX = 20;

/** Creates the options of a registration. Only this account can answer its challenge. */
export async function offerRegistration({ config, db }: Services, principal: Principal) {
  await requireRecentProof(db, principal);
  return withAccount(db, principal, async ({ tx, account }) => {
    requireVerifiedEmail(account);
    const passkeys = await tx.find(Passkey, { account: account.id });
    requireRoom(passkeys.length);
    const name = account.email ?? account.id;
    return {
      challenge: createChallenge(tx, account),
      rp: { id: getRelyingParty(config).id, name: 'Roster' },
      user: {
        id: createUserHandle(account.id),
        name,
        displayName: [account.firstName, account.lastName].filter(Boolean).join(' ') || name,
      },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
      timeout: CHALLENGE_MS,
      attestation: 'none' as const,
      authenticatorSelection: {
        // Users sign in without an email address, so the authenticator must store the account. It must also verify
        // the user, because a stolen device alone must not give access.
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
  await requireRecentProof(db, principal);
  const challenge = await consumeResponseChallenge(db, response, principal.accountId);
  const credential = await verifyRegistration(config, response, challenge);
  try {
    return await withAccount(db, principal, async ({ tx, account }) => {
      requireVerifiedEmail(account);
      requireRoom(await tx.count(Passkey, { account: account.id }));
      const passkey = tx.create(Passkey, {
        account,
        name,
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey),
        counter: credential.counter,
        transports: response.response.transports ?? [],
      });
      record(tx, 'passkey.added', { passkeyId: passkey.id });
      await notify(tx, account.id, { kind: 'passkey_added' });
      return passkey;
    });
  } catch (error) {
    // The credential is already registered, for this account or for another one.
    throw error instanceof UniqueConstraintViolationException ? passkeyRejected() : error;
  }
}

/**
 * Creates a challenge that any passkey of any account can answer. Only responses count as attempts, because the
 * sign-in page requests a challenge whenever it is opened. The rate limit bounds these requests.
 */
export async function offerSignIn({ config, db }: Services) {
  const challenge = await transaction(db, async (tx) => createChallenge(tx, null));
  return {
    challenge,
    rpId: getRelyingParty(config).id,
    timeout: CHALLENGE_MS,
    userVerification: 'required' as const,
  };
}

/** Signs in to the account of the passkey. All failures, including a disabled account, are the same error. */
export async function signInWithPasskey(
  services: Services,
  browserClient: BrowserClient,
  replaced: Principal | null,
  response: SignInResponse,
): Promise<void> {
  const { config, db } = services;
  const limit = addressAttemptLimit(browserClient.attempts, 'sign-in', browserClient.addressBucket);
  await consumeAttempt(limit);
  const challenge = await consumeResponseChallenge(db, response, null);
  const passkey = await db.em().findOne(Passkey, { credentialId: response.id });
  if (passkey === null) throw passkeyRejected();
  const counter = await verifySignIn(config, passkey, response, challenge);

  const session = await transaction(db, async (tx) => {
    // Lock the account, so that it is not disabled or deleted concurrently.
    const account = await lockOne(tx, 'account', passkey.account.id);
    if (account === null || account.disabledAt) throw passkeyRejected();
    await noteUse(tx, passkey, counter);
    return startSession(tx, services, { account, authenticationType: 'passkey', browserClient, replaced });
  });
  await refundAttempt(limit);
  openSession(browserClient, session);
}

/** Creates a challenge for one of the account's own passkeys. */
export async function offerProof({ config, db }: Services, principal: Principal) {
  return withAccount(db, principal, async ({ tx, account }) => {
    const passkeys = await tx.find(Passkey, { account: account.id });
    return {
      challenge: createChallenge(tx, account),
      rpId: getRelyingParty(config).id,
      timeout: CHALLENGE_MS,
      userVerification: 'required' as const,
      allowCredentials: passkeys.map(({ credentialId, transports }) => ({
        type: 'public-key' as const,
        id: credentialId,
        transports,
      })),
    };
  });
}

/** Re-authenticates the user of a session by one of the account's passkeys. */
export async function proveByPasskey(
  { config, db }: Services,
  browserClient: BrowserClient,
  principal: Principal,
  response: SignInResponse,
): Promise<void> {
  const { accountId, credentialId } = principal;
  const limit = passwordAttemptLimit(browserClient.attempts, { sessionId: credentialId });
  await consumeAttempt(limit);
  const challenge = await consumeResponseChallenge(db, response, accountId);
  const passkey = await db.em().findOne(Passkey, { credentialId: response.id, account: accountId });
  if (passkey === null) throw passkeyRejected();
  const counter = await verifySignIn(config, passkey, response, challenge);
  await transaction(db, (tx) => noteUse(tx, passkey, counter));
  await refundAttempt(limit);
  await setProven(db, principal, 'passkey');
}

/** Stores the signature counter. It must increase, because a lower one indicates a cloned authenticator. */
async function noteUse(tx: EntityManager, { id }: Passkey, counter: number): Promise<void> {
  const increased = counter === 0 ? { counter: 0 } : { counter: { $lt: counter } };
  const updated = await tx.nativeUpdate(Passkey, { id, ...increased }, { counter, lastUsedAt: new Date() });
  if (updated === 0) throw passkeyRejected();
}

export async function renamePasskey({ db }: Services, { accountId }: Principal, id: string, name: string) {
  const passkey = await renameRow(db, accountId, id, name);
  if (passkey === null) throw new ProblemError('passkey_not_found');
  return passkey;
}

/** Removes a passkey, unless it is the only way to sign in. */
export async function removePasskey({ db }: Services, principal: Principal, id: string): Promise<void> {
  await withAccount(db, principal, async ({ tx, account }) => {
    const passkey = await tx.findOne(Passkey, { id, account: account.id });
    if (passkey === null) throw new ProblemError('passkey_not_found');
    if (!account.passwordHash && (await tx.count(Passkey, { account: account.id })) === 1) {
      throw invalidInput('/id', 'It is the only way to sign in. Set a password or add another passkey first.');
    }
    tx.remove(passkey);
    record(tx, 'passkey.removed', { passkeyId: id });
  });
}

export const presentPasskey = (passkey: Passkey) => ({
  id: passkey.id,
  name: passkey.name,
  createdAt: passkey.createdAt.toISOString(),
  lastUsedAt: passkey.lastUsedAt?.toISOString() ?? null,
});

function requireRoom(count: number): void {
  if (count < PASSKEYS_MAX) return;
  throw invalidInput('', `An account has at most ${PASSKEYS_MAX} passkeys. Remove one first.`, 'max_length', 'body', {
    max: PASSKEYS_MAX,
  });
}
