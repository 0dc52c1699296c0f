import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { record } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { lockOne } from '../../transactions/locks.ts';
import { transaction } from '../../transactions/transaction.ts';
import { withAccount } from '../../transactions/with-account.ts';
import type { Principal } from '../../auth/principal.ts';
import { addressAttemptLimit, consumeAttempt, refundAttempt } from '../../rate-limit/attempts.ts';
import { Passkey, Session } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { openSession, startSession } from '../sessions/sessions.service.ts';
import {
  ALGORITHMS,
  CHALLENGE_MS,
  counterOf,
  credentialOf,
  newChallenge,
  refused,
  relyingParty,
  takeChallenge,
  userHandleOf,
} from './ceremony.ts';
import { renamePasskey as renameRow } from './passkeys.queries.ts';
import type { RegistrationResponse, SignInResponse } from './passkeys.schema.ts';

const PASSKEYS_MAX = 20;

/** What a new passkey is to be like. The challenge belongs to this account. */
export async function offerRegistration({ config, db }: Services, principal: Principal) {
  return withAccount(db, principal, async ({ tx, account }) => {
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
  const challenge = await takeChallenge(db, response, principal.accountId);
  const credential = await credentialOf(config, response, challenge);
  try {
    return await withAccount(db, principal, async ({ tx, account }) => {
      await requireSession(tx, principal);
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
      return passkey;
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
  const challenge = await transaction(db, async (tx) => newChallenge(tx, null));
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
  browserClient: BrowserClient,
  replaced: Principal | null,
  response: SignInResponse,
): Promise<void> {
  const { config, db } = services;
  const window = addressAttemptLimit(browserClient.attempts, 'sign-in', browserClient.addressBucket);
  await consumeAttempt(window);
  const challenge = await takeChallenge(db, response, null);
  const passkey = await db.em().findOne(Passkey, { credentialId: response.id });
  if (passkey === null) throw refused();
  const counter = await counterOf(config, passkey, response, challenge);

  const session = await transaction(db, async (tx) => {
    // The account's row, so that it is not disabled or deleted meanwhile.
    const account = await lockOne(tx, 'account', passkey.account.id);
    if (account === null || account.disabledAt) throw refused();
    const stepsForward = counter === 0 ? { counter: 0 } : { counter: { $lt: counter } };
    const used = await tx.nativeUpdate(
      Passkey,
      { id: passkey.id, ...stepsForward },
      { counter, lastUsedAt: new Date() },
    );
    if (used === 0) throw refused();
    return startSession(tx, services, { account, authenticationType: 'passkey', browserClient, replaced });
  });
  await refundAttempt(window);
  openSession(browserClient, session);
}

export async function renamePasskey({ db }: Services, { accountId }: Principal, id: string, name: string) {
  const passkey = await renameRow(db, accountId, id, name);
  if (passkey === null) throw new ProblemError('passkey_not_found');
  return passkey;
}

/** Removes a passkey, but never the last way into the account. */
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
  throw invalidInput('', `An account has at most ${PASSKEYS_MAX} passkeys. Remove one first.`, 'max_length', 'body', {
    max: PASSKEYS_MAX,
  });
}
