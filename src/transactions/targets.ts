import type { Principal } from '../auth/principal.ts';
import type { Step } from '../db/query.ts';
import { ProblemError } from '../problems/error.ts';
import { requireRole, stateOfCallerStep, type CallerState } from './caller.ts';
import type { Caller, HeldRole, Requirement, TeamCaller } from './caller.ts';
import { lockEmailAddressStep } from './email-address.ts';
import type { CommitGuard } from '../db/pipeline/commit-guard.ts';
import { callerGuard, callerIsLiveStep } from './live-caller.ts';
import { lockAccountsOfOperator, lockAccountShared, lockAccountsShared, lockAccountStep } from './lock-steps.ts';
import { lockOperatorKeys, lockTeamStep, type LockedAccount } from './lock-steps.ts';

export type OnTeam = {
  readonly team: string;
  /** Locks the caller's account as well, for limits per account. Otherwise only its deletion is prevented. */
  readonly andCaller?: boolean;
  /** Another account that must not be deleted meanwhile. */
  readonly andAccount?: string;
};

export type OnAccount = {
  readonly account: string;
  /** Others can hold the lock too: the account only has to stay as it is. */
  readonly isShared?: boolean;
};

/** An email address, whether or not it has an account. */
export type OnEmail = { readonly email: string };

/** An operator key. It is locked with the calling one, so that keys that change each other cannot deadlock. */
export type OnOperatorKey = { readonly operatorKey: string };

/** What a change locks. */
export type Target = OnTeam | OnAccount | OnEmail | OnOperatorKey | 'installation';

const isOn = <Name extends string>(on: Target, name: Name): on is Extract<Target, Record<Name, unknown>> =>
  on !== 'installation' && name in on;
const isMember = (caller: Caller): caller is TeamCaller => typeof caller === 'object' && 'credential' in caller;
const isPrincipal = (caller: Caller): caller is Principal => typeof caller === 'object' && 'credentialId' in caller;

/** Returns the team of a change, in whose turn it waits. */
export const teamOf = (on: Target): string | undefined => (isOn(on, 'team') ? on.team : undefined);

/** Returns the statements that lock a target, the first of which locks the row that it names. */
export function locksOf(caller: Caller, on: Target): readonly Step[] {
  if (isOn(on, 'email')) return [lockEmailAddressStep(on.email)];
  if (isOn(on, 'account')) return [lockOf(caller, on)];
  if (isOn(on, 'operatorKey')) return [[lockOperatorKeys, [on.operatorKey, null]]];
  if (!isOn(on, 'team')) return [];
  const own = isMember(caller) ? caller.accountId : null;
  const other = on.andAccount ?? null;
  const accounts: readonly Step[] = [
    ...(on.andCaller === true ? [[lockAccountStep, [own]] as const] : []),
    ...(own === null && other === null ? [] : [[lockAccountsShared, [own, other]] as const]),
  ];
  return [[lockTeamStep, [on.team]], ...accounts];
}

function lockOf(caller: Caller, { account, isShared = false }: OnAccount): Step {
  if (isShared) return [lockAccountShared, [account]];
  const operator = typeof caller === 'object' && 'operator' in caller ? caller.operator : null;
  // So that two operators cannot end each other.
  if (operator !== null && operator.kind !== 'operator-key')
    return [lockAccountsOfOperator, [account, operator.accountId]];
  return [lockAccountStep, [account]];
}

/** Returns the locked account of a change of one. @throws team_not_found, account_not_found, credential_invalid */
export function requireLocked(caller: Caller, on: Target, rows: readonly unknown[]): LockedAccount | null {
  if (isOn(on, 'team') && rows.length === 0) throw new ProblemError('team_not_found');
  if (!isOn(on, 'account')) return null;
  const account = (rows as readonly LockedAccount[]).find(({ id }) => id === on.account); // as its locks declare
  // A visitor learns from what follows that what they have proves nothing any more.
  if (account === undefined && caller !== 'visitor')
    throw new ProblemError(isPrincipal(caller) ? 'credential_invalid' : 'account_not_found');
  return account ?? null;
}

/** Returns the statements that read the caller, the last ones: who waits for a lock can end meanwhile. */
export function statesOf(caller: Caller, on: Target): readonly Step[] {
  if (isOn(on, 'team') && isMember(caller)) return [stateOfCallerStep({ ...caller, teamId: on.team })];
  return isPrincipal(caller) ? [callerIsLiveStep(caller)] : [];
}

/** Returns what is required of the caller at the commit, once the change has waited for all of its locks. */
export function callerGuardOf(caller: Caller): CommitGuard | null {
  if (isPrincipal(caller)) return callerGuard(caller.accountId, caller);
  return isMember(caller) ? callerGuard(caller.accountId, caller.credential) : null;
}

/** Requires the right of the caller. @returns their role, if they are a member */
export function requireState(caller: Caller, on: Target, requires: string, state: unknown): HeldRole | null {
  if (isOn(on, 'team') && isMember(caller))
    return requireRole(state as CallerState | undefined, requires as Requirement);
  if (!isPrincipal(caller)) return null;
  if (!isOn(on, 'account') || on.account !== caller.accountId) throw new Error('An account changes itself alone.');
  const { is_live: isLive } = state as { is_live: boolean }; // as `callerIsLiveStep` declares
  if (!isLive) throw new ProblemError('credential_invalid');
  return null;
}
