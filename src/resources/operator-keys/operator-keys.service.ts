import { raw } from '@mikro-orm/postgresql';
import { secretsOf } from '../../transactions/expire-secrets.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { isWithin, toNetwork } from '../../auth/networks.ts';
import { sortOperatorScopes } from '../../auth/operator-scopes.ts';
import type { Services } from '../../service/services.ts';
import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import { nowStep, toNow } from '../../db/clock.ts';
import { command } from '../../db/query.ts';
import { OperatorKey, OperatorKeySecret, type OperatorScope } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { notifyOperators } from '../../jobs/notify.ts';
import { HOUR_MS, toEnd, type End } from '../../time.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';

const expireSecrets = secretsOf('operator_key_secret', 'operator_key_id');

/** How many active keys there can be, if they are created over the API. */
const KEYS_MAX = 100;

type NewKey = {
  readonly name: string;
  readonly scopes: readonly OperatorScope[];
  readonly addresses: readonly string[] | undefined;
  readonly expiresAt: End;
};

/** Only keys hold scopes and addresses. The command line is not limited. */
type Caller = OperatorCaller | 'system';

const credentialOf = (caller: Caller): string | null => (caller === 'system' ? null : caller.operator.credentialId);

/** Creates an operator key, with at most the scopes, addresses and lifetime of the calling key. */
export async function createOperatorKey(
  { db, tokens }: Services,
  caller: Caller,
  { name, scopes, addresses, expiresAt: wantedEnd }: NewKey,
): Promise<{ key: OperatorKey; secret: string }> {
  const networks = addresses?.map(requireNetwork);
  const room = caller === 'system' ? [] : ([[lockRoom, [ADVISORY_LOCKS.operatorKey]]] as const);
  const spec = { on: 'installation', requires: 'operator', reads: [nowStep, ...room] } as const;
  return change(db, caller, spec, async (tx, [time]) => {
    const calling = await findCalling(tx, caller);
    const given = networks ?? calling?.addresses ?? [];
    if (calling !== undefined) requireWithin(calling, { scopes, addresses: given });
    if (caller !== 'system') await requireRoom(tx);
    const expiresAt = earlier(toEnd(wantedEnd, toNow(time)), calling?.expiresAt ?? null);
    const { secret, hash, keyPrefix, last4 } = tokens.generate('operatorKey');
    const key = tx.em.create(OperatorKey, {
      name,
      scopes: sortOperatorScopes(scopes),
      addresses: [...new Set(given)],
      keyPrefix,
      last4,
      expiresAt,
    });
    tx.em.create(OperatorKeySecret, { secretHash: hash, operatorKey: key });
    tx.record('operator_key.created', {
      keyId: key.id,
      operatorScopes: key.scopes,
      expiresAt: expiresAt?.toISOString() ?? null,
    });
    await notifyOperators(tx, { kind: 'operator_key_created', thing: name });
    return { key, secret };
  });
}

/**
 * Creates a new secret for a key. The present one stays valid for `overlapHours`; older ones are deleted.
 * @throws scope_not_allowed (403) for a key that has more scopes or addresses than the calling one, or outlives it
 */
export async function rotateOperatorKey(
  { db, tokens }: Services,
  caller: Caller,
  keyId: string,
  overlapHours: number,
): Promise<{ key: OperatorKey; secret: string }> {
  const spec = { on: { operatorKey: keyId }, requires: 'operator', reads: [nowStep] } as const;
  return change(db, caller, spec, async (tx, [time]) => {
    const [calling, key] = [await findCalling(tx, caller), await tx.em.findOne(OperatorKey, keyId)];
    if (!key || key.revokedAt || key.isExpired) throw new ProblemError('operator_key_not_found');
    if (calling !== undefined) requireWithin(calling, key);
    if (calling?.expiresAt && earlier(key.expiresAt ?? null, calling.expiresAt) !== key.expiresAt)
      throw new ProblemError('scope_not_allowed', 'The key expires later than the calling key.');
    expireSecrets(tx, keyId, overlapHours);
    const expiresAt = new Date(toNow(time).getTime() + overlapHours * HOUR_MS);
    const { secret, hash, keyPrefix, last4 } = tokens.generate('operatorKey');
    tx.em.create(OperatorKeySecret, { secretHash: hash, operatorKey: key });
    tx.em.assign(key, { keyPrefix, last4 });
    tx.record('operator_key.rotated', { keyId, expiresAt: expiresAt.toISOString() });
    if (credentialOf(caller) !== keyId) await notifyOperators(tx, { kind: 'operator_key_created', thing: key.name });
    return { key, secret };
  });
}

/** Revokes a key, from the next request on. */
export const revokeOperatorKey = (db: TransactionScope, caller: Caller, keyId: string): Promise<void> =>
  change(db, caller, { on: { operatorKey: keyId }, requires: 'operator' }, async ({ em, record }) => {
    const key = await em.findOne(OperatorKey, keyId);
    if (!key || key.revokedAt) throw new ProblemError('operator_key_not_found');
    key.revokedAt = raw<Date>('now()');
    record('operator_key.revoked', { keyId });
  });

/** Reads the calling key, which the change has locked. */
async function findCalling(tx: Change, caller: Caller): Promise<OperatorKey | undefined> {
  if (caller === 'system' || caller.operator.kind !== 'operator-key') return undefined;
  return tx.em.findOneOrFail(OperatorKey, caller.operator.credentialId);
}

/** Returns the earlier end. Null is none. */
const earlier = (a: Date | null, b: Date | null): Date | null => (a !== null && (b === null || a <= b) ? a : b);

type Limits = { readonly scopes: readonly OperatorScope[]; readonly addresses: readonly string[] };

function requireWithin(calling: Limits, wanted: Limits): void {
  const beyond = sortOperatorScopes(wanted.scopes).filter((scope) => !calling.scopes.includes(scope));
  if (beyond.length > 0)
    throw new ProblemError('scope_not_allowed', `The calling key does not hold ${beyond.join(', ')}.`);
  if (!isWithin(wanted.addresses, calling.addresses))
    throw new ProblemError('address_not_allowed', 'The calling key does not allow all of these addresses.');
}

/** Serializes the count, because the keys have no common row. */
const lockRoom = command<object>('operator_key_lock_number', 'select from pg_advisory_xact_lock($1)');

async function requireRoom(tx: Change): Promise<void> {
  const active = await tx.em.count(OperatorKey, { revokedAt: null });
  if (active >= KEYS_MAX)
    throw new ProblemError('operator_key_limit_reached', `There are ${active} active keys; the limit is ${KEYS_MAX}.`);
}

function requireNetwork(text: string, index: number): string {
  const network = toNetwork(text);
  if (network === undefined)
    throw invalidInput(
      `/addresses/${index}`,
      'It must be an IP address, or a network in CIDR notation.',
      'invalid_format',
    );
  return network;
}
