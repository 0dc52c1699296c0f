import { Subscription, type SUBSCRIPTION_INTERVALS, type SUBSCRIPTION_STATUSES } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import type { TransactionScope } from '../../transactions/steps.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import type { Plans } from './plans.ts';

export type NewSubscription = {
  readonly planId: string;
  readonly status?: (typeof SUBSCRIPTION_STATUSES)[number] | undefined;
  readonly interval?: (typeof SUBSCRIPTION_INTERVALS)[number] | undefined;
  readonly addons?: Readonly<Record<string, number>> | undefined;
  readonly planExpiresAt?: Date | undefined;
  readonly cancelAtPeriodEnd?: boolean | undefined;
  readonly needsPaymentAction?: boolean | undefined;
};

/**
 * Replaces the subscription of a team for the operator. Omitted fields get their defaults.
 * @param expectedVersion the version that the caller has read, if it must not replace another one
 * @returns the new version
 * @throws version_mismatch (412)
 */
export async function setSubscription(
  db: TransactionScope,
  caller: OperatorCaller | 'system',
  plans: Plans,
  teamId: string,
  input: NewSubscription,
  expectedVersion?: number,
): Promise<number> {
  if (!plans.has(input.planId))
    throw invalidInput('/planId', `There is no plan ${input.planId}; the plans are ${[...plans.keys()].join(', ')}.`);
  const addons = input.addons ?? {};
  const wrong = Object.entries(addons).find(([, units]) => !Number.isSafeInteger(units) || units < 0);
  if (wrong !== undefined) throw invalidInput('/addons', `The units of ${wrong[0]} must be a whole number from 0.`);

  return change(db, caller, { on: { team: teamId }, requires: 'operator' }, async (tx) => {
    const known = await tx.em.findOne(Subscription, { team: teamId });
    const current = { version: known?.version ?? 0 };
    if (expectedVersion !== undefined && expectedVersion !== current.version)
      throw new ProblemError('version_mismatch', `The subscription has version ${current.version}.`);
    const version = current.version + 1;
    const terms = {
      planId: input.planId,
      status: input.status ?? null,
      interval: input.interval ?? null,
      addons: { ...addons },
      planExpiresAt: input.planExpiresAt ?? null,
      cancelAtPeriodEnd: input.cancelAtPeriodEnd ?? false,
      needsPaymentAction: input.needsPaymentAction ?? false,
    };
    if (known !== null && assignChanged(known, terms).length === 0) return known.version;
    if (known === null) tx.em.create(Subscription, { team: teamId, ...terms, version });
    else known.version = version;
    tx.record('team.plan_set', { teamId, planId: input.planId });
    return version;
  });
}
