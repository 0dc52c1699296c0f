import { isUniqueViolation } from '../../db/errors.ts';
import { command } from '../../db/query.ts';
import { change } from '../../transactions/change.ts';
import { requireVerifiedEmail } from '../accounts/require-account.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import type { Principal } from '../../auth/principal.ts';
import { countAttempt } from '../../rate-limit/attempts.ts';
import { Account, Passkey } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import type { Services } from '../../service/services.ts';
import type { AuthenticatingBrowser } from '../../procedures/browser-client.ts';
import { addProof, revokeReplacedSession } from '../sessions/sessions.service.ts';
import { setSessionCookies, startSession } from '../sessions/start-session.ts';
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
import { findPasskey, type Credential } from './passkeys.queries.ts';
import type { RegistrationResponse, SignInResponse } from './passkeys.schema.ts';
import { notify } from '../../jobs/notify.ts';

const PASSKEYS_MAX = 20;

const ofCaller = ({ accountId }: Principal) => ({ on: { account: accountId }, requires: 'self' }) as const;

/** Creates the options of a registration. Only this account can answer its challenge. */
export async function offerRegistration({ config, db }: Services, principal: Principal) {
  return change(db, principal, ofCaller(principal), async (tx) => {
    requireVerifiedEmail(tx.account);
    const account = await tx.em.findOneOrFail(Account, tx.account.id);
    const passkeys = await tx.em.find(Passkey, { account: account.id });
    requireRoom(passkeys.length);
    const name = account.email ?? account.id;
    return {
      challenge: createChallenge(tx, { account, sessionId: principal.credentialId }),
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
  const challenge = await consumeResponseChallenge(db, response, principal);
  const credential = await verifyRegistration(config, response, challenge);
  try {
    return await change(db, principal, ofCaller(principal), async (tx) => {
      requireVerifiedEmail(tx.account);
      requireRoom(await tx.em.count(Passkey, { account: tx.account.id }));
      const passkey = tx.em.create(Passkey, {
        account: tx.account.id,
        name,
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey),
        counter: credential.counter,
        transports: response.response.transports ?? [],
      });
      tx.record('passkey.added', { passkeyId: passkey.id });
      await notify(tx, tx.account.id, { kind: 'passkey_added', thing: name });
      return passkey;
    });
  } catch (error) {
    // The credential is already registered, for this account or for another one.
    throw isUniqueViolation(error) ? passkeyRejected() : error;
  }
}

/**
 * Creates a challenge that any passkey of any account can answer. Only responses count as attempts, because the
 * sign-in page requests a challenge whenever it is opened. The rate limit bounds these requests.
 */
export async function offerSignIn({ config, db }: Services) {
  const spec = { on: 'installation', requires: 'nothing' } as const;
  const challenge = await change(db, 'visitor', spec, (tx) => createChallenge(tx, null));
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
  browserClient: AuthenticatingBrowser,
  replaced: Principal | null,
  response: SignInResponse,
): Promise<void> {
  const { config, db } = services;
  const passkey = await findPasskey(db, response.id, browserClient.deviceToken);
  const counted = await countAttempt(browserClient, { kind: 'passkey', deviceId: passkey?.deviceId ?? null });
  const challenge = await consumeResponseChallenge(db, response, null);
  if (passkey === null) throw passkeyRejected();
  const counter = await verifySignIn(config, passkey, response, challenge);

  const spec = { on: { account: passkey.accountId }, requires: 'nothing' } as const;
  const session = await change(db, 'visitor', spec, async (tx) => {
    if (tx.account === null || tx.account.is_disabled) throw passkeyRejected();
    const account = await tx.em.findOneOrFail(Account, tx.account.id);
    await noteUse(tx, passkey, counter);
    return startSession(tx, services, {
      account,
      authenticationType: 'passkey',
      proved: ['passkey'],
      browserClient,
      continued: await revokeReplacedSession(tx, replaced),
    });
  });
  await counted.refund();
  setSessionCookies(browserClient, session);
}

/** Creates a challenge for one of the account's own passkeys. */
export async function offerProof({ config, db }: Services, principal: Principal) {
  return change(db, principal, ofCaller(principal), async (tx) => {
    const account = await tx.em.findOneOrFail(Account, principal.accountId);
    const passkeys = await tx.em.find(Passkey, { account: account.id });
    return {
      challenge: createChallenge(tx, { account, sessionId: principal.credentialId }),
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
  browserClient: AuthenticatingBrowser,
  principal: Principal,
  response: SignInResponse,
): Promise<void> {
  const { accountId, credentialId } = principal;
  const counted = await countAttempt(browserClient, { kind: 'proof', sessionId: credentialId });
  const challenge = await consumeResponseChallenge(db, response, principal);
  const passkey = await findPasskey(db, response.id, browserClient.deviceToken);
  if (passkey?.accountId !== accountId) throw passkeyRejected();
  const counter = await verifySignIn(config, passkey, response, challenge);
  await change(db, principal, ofCaller(principal), (tx) => noteUse(tx, passkey, counter));
  await counted.refund();
  await addProof(db, browserClient, principal, 'passkey');
}

const notePasskeyUse = command<{ id: string }>(
  'passkey_update_use',
  `update passkey set counter = $2::bigint, last_used_at = greatest(now(), created_at)
   where id = $1 and (counter < $2::bigint or (counter = 0 and $2::bigint = 0)) returning id`,
);

/** Stores the signature counter. It must increase, because a lower one indicates a cloned authenticator. */
async function noteUse(tx: Change, { id }: Credential, counter: number): Promise<void> {
  const [[updated]] = await tx.run([[notePasskeyUse, [id, counter]]]);
  if (updated === undefined) throw passkeyRejected();
}

/** Renames a passkey of the account. @throws passkey_not_found (404) */
export const renamePasskey = (db: TransactionScope, caller: Principal, id: string, name: string): Promise<Passkey> =>
  change(db, caller, ofCaller(caller), async ({ em: tx, account, record }) => {
    const passkey = await tx.findOne(Passkey, { id, account: account.id });
    if (passkey === null) throw new ProblemError('passkey_not_found');
    if (passkey.name === name) return passkey;
    passkey.name = name;
    record('passkey.renamed', { passkeyId: id });
    return passkey;
  });

/** Removes a passkey, unless it is the only way to sign in. */
export async function removePasskey(db: TransactionScope, principal: Principal, id: string): Promise<void> {
  await change(db, principal, ofCaller(principal), async (tx) => {
    const account = await tx.em.findOneOrFail(Account, principal.accountId);
    const passkey = await tx.em.findOne(Passkey, { id, account: account.id });
    if (passkey === null) throw new ProblemError('passkey_not_found');
    if (!account.passwordHash && (await tx.em.count(Passkey, { account: account.id })) === 1) {
      throw invalidInput('/id', 'It is the only way to sign in. Set a password or add another passkey first.');
    }
    tx.em.remove(passkey);
    tx.record('passkey.removed', { passkeyId: id });
    await notify(tx, account.id, { kind: 'passkey_removed', thing: passkey.name });
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
