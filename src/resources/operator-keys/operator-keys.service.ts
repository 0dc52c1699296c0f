import type { EntityManager } from '@mikro-orm/postgresql';
import { isPast } from '../../auth/active-membership.ts';
import { isWithin, toNetwork } from '../../auth/networks.ts';
import { sortOperatorScopes } from '../../auth/operator-scopes.ts';
import type { Operator } from '../../auth/principal.ts';
import type { Services } from '../../app-services.ts';
import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import { OperatorKey, OperatorKeySecret, type OperatorScope } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { record } from '../../events/record.ts';
import { HOUR_MS } from '../../time.ts';
import { lockMany } from '../../transactions/locks.ts';
import { transaction, type TransactionScope } from '../../transactions/transaction.ts';
import { requireLive, withOperator } from '../../transactions/with-operator.ts';

/** How many active keys there can be, if they are created over the API. */
const KEYS_MAX = 100;

type NewKey = {
  readonly name: string;
  readonly scopes: readonly OperatorScope[];
  readonly addresses: readonly string[] | undefined;
  readonly expiresAt: Date | null;
};

/** The operator who calls; undefined for the command line, which is not limited. Only keys hold scopes and addresses. */
type Caller = Operator | undefined;

/** Opens the transaction of a caller. `lockKeys` locks an operator key together with the one that it changes. */
const open = <R>(db: TransactionScope, caller: Caller, work: (tx: EntityManager) => Promise<R>): Promise<R> =>
  caller === undefined || caller.kind === 'operator-key' ? transaction(db, work) : withOperator(db, caller, work);

/** Creates an operator key, with at most the scopes and addresses of the calling key. */
export async function createOperatorKey(
  { db, tokens }: Services,
  caller: Caller,
  { name, scopes, addresses, expiresAt }: NewKey,
): Promise<{ key: OperatorKey; secret: string }> {
  const networks = addresses?.map(requireNetwork);
  return open(db, caller, async (tx) => {
    const { calling } = await lockKeys(tx, caller);
    const given = networks ?? calling?.addresses ?? [];
    if (calling !== undefined) requireHeld(calling, { scopes, addresses: given });
    if (caller !== undefined) await requireRoom(tx);
    const { secret, hash, keyPrefix, last4 } = tokens.generate('operatorKey');
    const key = tx.create(OperatorKey, {
      name,
      scopes: sortOperatorScopes(scopes),
      addresses: [...new Set(given)],
      keyPrefix,
      last4,
      expiresAt,
    });
    tx.create(OperatorKeySecret, { secretHash: hash, operatorKey: key });
    record(tx, 'operator_key.created', {
      keyId: key.id,
      operatorScopes: key.scopes,
      expiresAt: expiresAt?.toISOString() ?? null,
    });
    await tx.flush();
    return { key, secret };
  });
}

/**
 * Creates a new secret for a key. The present one stays valid for `overlapHours`; older ones are deleted.
 * @throws scope_not_allowed (403) for a key that has more scopes or addresses than the calling one
 */
export async function rotateOperatorKey(
  { db, tokens }: Services,
  caller: Caller,
  keyId: string,
  overlapHours: number,
): Promise<{ key: OperatorKey; secret: string }> {
  return open(db, caller, async (tx) => {
    const { calling, key } = await lockKeys(tx, caller, keyId);
    if (!key || key.revokedAt || isPast(key.expiresAt)) throw new ProblemError('operator_key_not_found');
    if (calling !== undefined) requireHeld(calling, key);
    await tx.nativeDelete(OperatorKeySecret, {
      operatorKey: keyId,
      ...(overlapHours > 0 && { expiresAt: { $ne: null } }),
    });
    const expiresAt = new Date(Date.now() + overlapHours * HOUR_MS);
    await tx.nativeUpdate(OperatorKeySecret, { operatorKey: keyId }, { expiresAt });
    const { secret, hash, keyPrefix, last4 } = tokens.generate('operatorKey');
    tx.create(OperatorKeySecret, { secretHash: hash, operatorKey: key });
    tx.assign(key, { keyPrefix, last4 });
    record(tx, 'operator_key.rotated', { keyId, expiresAt: expiresAt.toISOString() });
    await tx.flush();
    return { key, secret };
  });
}

/** Revokes a key, from the next request on. */
export const revokeOperatorKey = ({ db }: Pick<Services, 'db'>, caller: Caller, keyId: string): Promise<void> =>
  open(db, caller, async (tx) => {
    const { key } = await lockKeys(tx, caller, keyId);
    if (!key || key.revokedAt) throw new ProblemError('operator_key_not_found');
    key.revokedAt = new Date();
    record(tx, 'operator_key.revoked', { keyId });
    await tx.flush();
  });

/** Locks the calling key and the one to change, in one order, so that keys that change each other cannot deadlock. */
async function lockKeys(
  tx: EntityManager,
  caller: Caller,
  keyId?: string,
): Promise<{ calling: OperatorKey | undefined; key: OperatorKey | undefined }> {
  const callingId = caller?.kind === 'operator-key' ? caller.credentialId : undefined;
  const ids = [callingId, keyId].filter((id) => id !== undefined);
  const keys = ids.length === 0 ? [] : await lockMany(tx, 'operator_key', { id: { $in: ids } });
  const find = (id: string | undefined) => keys.find((key) => key.id === id);
  const calling = find(callingId);
  if (callingId !== undefined) requireLive(calling);
  return { calling, key: find(keyId) };
}

type Limits = { readonly scopes: readonly OperatorScope[]; readonly addresses: readonly string[] };

function requireHeld(calling: Limits, wanted: Limits): void {
  const beyond = sortOperatorScopes(wanted.scopes).filter((scope) => !calling.scopes.includes(scope));
  if (beyond.length > 0)
    throw new ProblemError('scope_not_allowed', `The calling key does not hold ${beyond.join(', ')}.`);
  if (!isWithin(wanted.addresses, calling.addresses))
    throw new ProblemError('address_not_allowed', 'The calling key does not allow all of these addresses.');
}

/** Counts under a lock of its own, because the keys have no common row. */
async function requireRoom(tx: EntityManager): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(?)', [ADVISORY_LOCKS.operatorKey]);
  const active = await tx.count(OperatorKey, { revokedAt: null });
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
