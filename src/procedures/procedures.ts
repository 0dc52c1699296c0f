import { z } from 'zod';
import { requirePermission } from '../auth/permissions.ts';
import type { Operator, OperatorPrincipal } from '../auth/principal.ts';
import { requireRecentProof } from '../auth/recent-proof.ts';
import { query, type QueryRunner } from '../db/query.ts';
import type { OperatorScope, Permission, Scope } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import type { Access } from './authorize.ts';
import { resourceId } from './fields.ts';
import { procedure } from './trpc.ts';

const credentialed = (access: Access) =>
  procedure.meta({ access }).use(({ ctx, next }) => {
    const { principal } = ctx.authentication;
    // `authorize` has denied this call already; only for the compiler.
    if (principal === null) throw new ProblemError('credential_missing');
    return next({ ctx: { principal } });
  });

/** Open to all browser clients, signed in or not. Over tRPC only. */
export const publicProcedure = procedure.use(({ ctx, next }) => {
  if (ctx.browserClient === null) throw new ProblemError('route_not_found');
  return next({ ctx: { browserClient: ctx.browserClient } });
});

/** Requires a user session, for operations that API keys and OAuth tokens must not perform. */
export const sessionProcedure = procedure
  .meta({ access: { scope: null, accountLevel: true, permission: null, sessionOnly: true } })
  .use(({ ctx, next }) => {
    const { principal } = ctx.authentication;
    if (principal === null || ctx.browserClient === null) throw new ProblemError('session_required');
    return next({ ctx: { principal, browserClient: ctx.browserClient } });
  });

const isOperator = query<object>(
  'is_operator',
  `select from account where id = $1 and role = 'admin' and disabled_at is null`,
);

/** Requires the role of an operator, which each call reads, so that its loss takes effect immediately. @throws route_not_found */
export async function requireOperator(db: QueryRunner, accountId: string): Promise<void> {
  const [row] = await db.query(isOperator, [accountId]);
  if (row === undefined) throw new ProblemError('route_not_found', undefined, { denial: 'access.denied' });
}

/** Requires a signed-in operator of this instance. For all others the procedure does not exist (404). */
export const operatorProcedure = sessionProcedure
  .meta({ access: { scope: null, accountLevel: true, permission: null, sessionOnly: true, operatorOnly: true } })
  .use(async ({ ctx, next }) => {
    await requireOperator(ctx.services.db, ctx.principal.accountId);
    return next();
  });

/**
 * An operation of the operator API: requires an operator key with `scope`, and with all other scopes that are named.
 * `null` accepts any operator key.
 */
export const operatorKeyProcedure = (scope: OperatorScope | null, otherScopes: readonly OperatorScope[] = []) =>
  procedure
    .meta({ access: { scope, otherScopes, accountLevel: false, permission: null, isOperatorApi: true } })
    .use(({ ctx, next }) => {
      const { operator } = ctx.authentication as { readonly operator?: OperatorPrincipal }; // `authorize` has checked it
      if (operator === undefined) throw new ProblemError('credential_missing');
      return next({ ctx: { operator } });
    });

type OperatorRules = {
  /** Gives access to data of others, or cannot be undone: an operator who is signed in needs a recent proof. */
  readonly isSensitive?: true;
};

/** Builds the procedures of operations that the operator API and the operator's area of the console share. */
export type OperatorProcedures = typeof forOperatorKeys;

/** For operator keys, with `scope`. */
export const forOperatorKeys = (scope: OperatorScope, _rules: OperatorRules = {}) =>
  operatorKeyProcedure(scope).use(({ ctx, next }) => next({ ctx: { operator: ctx.operator as Operator } }));

/** For operators who are signed in, who have all scopes. */
export const forOperatorSessions = ((_scope: OperatorScope, { isSensitive }: OperatorRules = {}) =>
  operatorProcedure.use(async ({ ctx, next }) => {
    if (isSensitive) await requireRecentProof(ctx.services.db, ctx.principal);
    return next({ ctx: { operator: ctx.principal as Operator } });
  })) as unknown as OperatorProcedures; // they read the same context

/** Requires a valid credential with any scopes. */
export const credentialProcedure = credentialed({ scope: null, accountLevel: false, permission: null });

/** Requires a credential with `scope`. */
export const scopedProcedure = (scope: Scope) => credentialed({ scope, accountLevel: false, permission: null });

/** Account-level: requires a credential with `scope` that is not bound to one team. */
export const accountProcedure = (scope: Scope) => credentialed({ scope, accountLevel: true, permission: null });

/**
 * Reads the caller's own profile. Also open to sign-ups whose email address is not verified yet; all other procedures
 * reject them with `email_not_verified`.
 */
export const profileProcedure = procedure
  .meta({ access: { scope: 'profile:read', accountLevel: true, permission: null, isOpenToSignUps: true } })
  .use(({ ctx, next }) => {
    const { authentication } = ctx;
    const account = authentication.principal ?? authentication.signUp;
    if (account === undefined) throw new ProblemError('credential_missing'); // `authorize` has denied it already
    return next({ ctx: { account } });
  });

type TeamAccess<Shape extends z.core.$ZodLooseShape> = {
  readonly scope: Scope;
  readonly permission?: Permission;
  /** The input besides `teamId`. Given here because it is validated before the membership. */
  readonly input?: Shape;
};

/**
 * Requires an active member of `teamId`, with `permission` if given. All other callers get the 404 of a missing team,
 * so that team ids cannot be probed (spec 1.6).
 */
export const teamProcedure = <Shape extends z.core.$ZodLooseShape = Record<never, never>>({
  scope,
  permission,
  input,
}: TeamAccess<Shape>) =>
  procedure
    .meta({ access: { scope, accountLevel: false, permission: permission ?? null } })
    .input(z.object({ teamId: resourceId, ...(input as Shape) })) // an absent shape spreads to nothing
    .use(async ({ ctx, input: parsed, next }) => {
      const { teamId } = parsed as { teamId: string }; // what the line above parses; inference stops at the generic
      const { principal } = ctx.authentication;
      const membership = principal && (await ctx.findMembership(teamId));
      if (!membership) throw new ProblemError('team_not_found');
      requirePermission(membership.permissions, permission);
      return next({
        ctx: { principal, membership, caller: { teamId, accountId: principal.accountId, credential: principal } },
      });
    });
