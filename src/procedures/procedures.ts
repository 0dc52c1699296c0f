import { z } from 'zod';
import { requirePermission } from '../auth/permissions.ts';
import { query } from '../db/query.ts';
import type { Permission, Scope } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import type { Access } from './authorize.ts';
import { resourceId } from './fields.ts';
import { procedure } from './trpc.ts';

const accessible = (access: Access) =>
  procedure.meta({ access }).use(({ ctx, next }) => {
    const { principal } = ctx.authentication;
    // `authorize` has refused this call already; the line tells the compiler.
    if (principal === null) throw new ProblemError('credential_missing');
    return next({ ctx: { principal } });
  });

/** Anybody at a browser, signed in or not. Over tRPC only. */
export const publicProcedure = procedure.use(({ ctx, next }) => {
  if (ctx.browserClient === null) throw new ProblemError('route_not_found');
  return next({ ctx: { browserClient: ctx.browserClient } });
});

/** Somebody who is signed in: what concerns a person and no key or grant should do. */
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

/**
 * An operator of this installation, who is signed in. The role is read for each call, so that it ends at
 * once; to everybody else there is no such procedure.
 */
export const operatorProcedure = sessionProcedure
  .meta({ access: { scope: null, accountLevel: true, permission: null, sessionOnly: true, operatorOnly: true } })
  .use(async ({ ctx, next }) => {
    const [row] = await ctx.services.db.query(isOperator, [ctx.principal.accountId]);
    if (row === undefined) throw new ProblemError('route_not_found', undefined, { refused: 'access.denied' });
    return next();
  });

/** Any valid credential, no particular scope. */
export const credentialProcedure = accessible({ scope: null, accountLevel: false, permission: null });

/** A credential that holds `scope`. */
export const scopedProcedure = (scope: Scope) => accessible({ scope, accountLevel: false, permission: null });

/** Account-level: a credential that holds `scope` and is not bound to one team. */
export const accountProcedure = (scope: Scope) => accessible({ scope, accountLevel: true, permission: null });

/**
 * Reads the caller's own profile. A sign-up whose email address is not verified yet has one too; every other
 * procedure answers it with `email_not_verified`.
 */
export const profileProcedure = procedure
  .meta({ access: { scope: 'profile:read', accountLevel: true, permission: null, isOpenToSignUps: true } })
  .use(({ ctx, next }) => {
    const { authentication } = ctx;
    const account = authentication.principal ?? authentication.signUp;
    if (account === undefined) throw new ProblemError('credential_missing'); // `authorize` has refused it already
    return next({ ctx: { account } });
  });

type TeamAccess<Shape extends z.core.$ZodLooseShape> = {
  readonly scope: Scope;
  readonly permission?: Permission;
  /** What the call takes beside `teamId`. It is given here because it is checked before the membership. */
  readonly input?: Shape;
};

/**
 * Team-addressed: an active member of `teamId`, holding `permission` where one is named. Everybody
 * else gets the 404 that a missing team gives, so that ids cannot be probed (spec 1.6).
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
      const membership = principal && (await ctx.membershipOf(teamId));
      if (!membership) throw new ProblemError('team_not_found');
      requirePermission(membership.permissions, permission);
      return next({ ctx: { principal, membership, caller: { teamId, accountId: principal.accountId } } });
    });
