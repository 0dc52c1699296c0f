import type { Principal } from '../auth/principal.ts';
import type { RowsOf, Step } from '../db/query.ts';
import type { Caller, HeldRole, OperatorCaller, Requirement, TeamCaller } from './caller.ts';
import type { LockedAccount } from './lock-steps.ts';
import { guardOperator } from './operator-caller.ts';
import { toChange, type Change as OpenChange, type TransactionScope } from './steps.ts';
import { callerGuardOf, locksOf, requireLocked, requireState, statesOf, teamOf } from './targets.ts';
import type { OnAccount, OnEmail, OnOperatorKey, OnTeam } from './targets.ts';

type Operating = OperatorCaller | 'system';

/** A right that some callers can have. Operators need no other than theirs. */
type Right<C extends Caller, Of extends Caller, R> =
  | ([C] extends [Of | Operating] ? R : never)
  | ([C] extends [Operating] ? 'operator' : never);

/** Nothing is required of who has no credential. `work` itself uses up what they prove, such as a link, under the locks. */
type Nothing<C extends Caller> = [C] extends ['visitor' | 'system'] ? 'nothing' : never;

/** What a change locks first, and the right that it takes: a role in the team, being the account, or the operator's. */
export type Spec<C extends Caller> = {
  /** What is locked before the target, in the same round trip, in LOCK_ORDER. */
  readonly first?: readonly Step[];
  /** What else is locked and read in the same round trip, in LOCK_ORDER. */
  readonly reads?: readonly Step[];
  /** In whose turn it waits. Default: the team that is locked. */
  readonly turn?: string | undefined;
} & (
  | { readonly on: OnTeam; readonly requires: Right<C, TeamCaller, Requirement> }
  | { readonly on: OnAccount; readonly requires: Right<C, Principal, 'self'> | Nothing<C> }
  | { readonly on: OnEmail; readonly requires: Nothing<C> }
  | { readonly on: OnOperatorKey; readonly requires: Right<C, never, never> }
  | { readonly on: 'installation'; readonly requires: Right<C, never, never> | Nothing<C> }
);

/** The account of a change of one. A visitor can name one that is deleted. */
type AccountOf<C extends Caller, S> = S extends { readonly on: OnAccount }
  ? LockedAccount | ([C] extends ['visitor'] ? null : never)
  : null;

/** An open change, as its caller makes it. */
export type ChangeOf<C extends Caller, S> = OpenChange & {
  /** The caller's role in the team, as it is under the lock; null for operators. */
  readonly role: C extends TeamCaller ? HeldRole : null;
  /** The locked account, of a change of one. */
  readonly account: AccountOf<C, S>;
};

type StepsOf<S, Name extends string> = S extends { readonly [Key in Name]: infer Steps extends readonly Step[] }
  ? Steps
  : readonly [];

/** The rows of `first` and `reads`. */
type RowsOfSpec<S> = RowsOf<readonly [...StepsOf<S, 'first'>, ...StepsOf<S, 'reads'>]>;

/**
 * Makes a change: the one way to write. Locks what it is made on, reads the caller and `reads` under the locks in one
 * round trip, and runs `work`, whose statements are sent with the commit, and with another look at the caller. It runs again, up to three times, after a
 * conflict. It is part of `db` if that is an open change.
 * @throws credential_invalid (401), team_not_found, account_not_found, or route_not_found for who is no operator any more
 *   (404), permission_missing (403)
 */
export const change = <C extends Caller, const S extends Spec<C>, R>(
  db: TransactionScope,
  caller: C,
  spec: S,
  work: (change: ChangeOf<C, S>, rows: RowsOfSpec<S>) => Promise<R> | R,
): Promise<R> =>
  db.transact(
    async (open) => {
      const opened = toChange(open);
      const operator = guardOperator(open, caller, spec.on);
      const [locks, first, reads] = [locksOf(caller, spec.on), spec.first ?? [], spec.reads ?? []];
      const steps = [...operator.first, ...first, ...locks, ...reads, ...statesOf(caller, spec.on)];
      const rows: unknown[][] = steps.length === 0 ? [] : [...(await opened.run(steps))];

      operator.requireFirst(rows.splice(0, operator.first.length));
      const [locked = []] = rows.splice(first.length, locks.length);
      const account = requireLocked(caller, spec.on, locked);
      const [[state] = []] = rows.splice(first.length + reads.length);
      const role = requireState(caller, spec.on, spec.requires, state);
      const guard = callerGuardOf(caller);
      if (guard !== null) open.requireAtCommit(guard);
      return work(
        Object.assign(opened, { role, account }) as unknown as ChangeOf<C, S>, // as the caller and the locks decide
        rows as unknown as RowsOfSpec<S>, // as the statements declare
      );
    },
    spec.turn ?? teamOf(spec.on),
  );
