import { z } from 'zod';
import { requirePermission } from '../auth/permissions.ts';
import type { Operator, OperatorPrincipal } from '../auth/principal.ts';
import { query, type QueryRunner } from '../db/query.ts';
import type { OperatorScope, Permission, Scope } from '../entities/index.ts';
import { ProblemError } from '../problems/error.ts';
import type { Access } from './authorize.ts';
import type { AuthenticatingBrowser, BrowserClient } from './browser-client.ts';
import { resourceId } from './fields.ts';
import { procedure } from './trpc.ts';

const credentialed = (access: Access) =>
  procedure.meta({ access }).use(({ ctx, next }) => {
    const { principal } = ctx.authentication;
    // `authorize` has denied this call already; only for the compiler.
    if (principal === null) throw new ProblemError('credential_missing');
    return next({ ctx: { principal } });
  });

/** Like `publicProcedure`, and open to first-party tokens. Each is in the table of `test/trpc/first-party.gate.test.ts`. */
export const publicOrAppProcedure = procedure.meta({ isOpenToApps: true }).use(({ ctx, next }) => {
  if (ctx.browserClient === null) throw new ProblemError('route_not_found');
  return next({ ctx: { browserClient: ctx.browserClient as BrowserClient } });
});

/**
 * Open to all browser clients, signed in or not. Over tRPC only. Not to first-party tokens, which never reach sign-in: it
 * would act for the server of the application instead of the browser of its user.
 */
export const publicProcedure = publicOrAppProcedure.meta({ isOpenToApps: false }).use(({ ctx, next }) => {
  if (ctx.authentication.principal?.sessionId) throw new ProblemError('session_required');
  return next();
});

/**
 * A read that takes the token of a link: a mutation, so that the token is in the body and not in the URL, which proxies
 * log and browsers keep.
 */
export const READ_BY_TOKEN = { readsOnly: true, effect: 'none' } as const;

const sessionWith = (firstParty: Pick<Access, 'firstParty'>) =>
  procedure
    .meta({ access: { scope: null, accountLevel: true, permission: null, sessionOnly: true, ...firstParty } })
    .use(({ ctx, next }) => {
      const { principal } = ctx.authentication;
      if (principal === null || ctx.browserClient === null) throw new ProblemError('session_required');
      return next({ ctx: { principal, browserClient: ctx.browserClient as BrowserClient } });
    });

/** Requires a user session, for operations that API keys and OAuth tokens must not perform. */
export const sessionProcedure = sessionWith({});

/**
 * Like `sessionProcedure`, and open to first-party tokens with `scope`. Each is in the table of
 * `test/trpc/first-party.gate.test.ts`. It must reach nothing that other scopes protect, as sessions have all of them, nor use
 * the credential as a session.
 */
export const sessionOrAppProcedure = (scope: Scope) => sessionWith({ firstParty: scope });

/** A public procedure that can sign its caller in. Each is in the table of `test/trpc/sessions-started.ts`. */
export const signInProcedure = publicProcedure
  .meta({ authenticates: 'starts a session' })
  .use(({ ctx, next }) => next({ ctx: { browserClient: ctx.browserClient as AuthenticatingBrowser } }));

/** A procedure that continues the caller's session under a new token. */
export const sessionRenewalProcedure = sessionProcedure
  .meta({ authenticates: 'continues a session' })
  .use(({ ctx, next }) => next({ ctx: { browserClient: ctx.browserClient as AuthenticatingBrowser } }));

/** A procedure that adds a proof to the caller's session. */
export const proofProcedure = sessionProcedure
  .meta({ authenticates: 'adds a proof' })
  .use(({ ctx, next }) => next({ ctx: { browserClient: ctx.browserClient as AuthenticatingBrowser } }));

const isOperator = query<object>(
  'account_check_operator',
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

/** Builds the procedures of operations that the operator API and the operator's area of the console share. */
export type OperatorProcedures = typeof forOperatorKeys;

/** For operator keys, with `scope`. */
export const forOperatorKeys = (scope: OperatorScope) =>
  operatorKeyProcedure(scope).use(({ ctx, next }) => next({ ctx: { operator: ctx.operator as Operator } }));

/** For operators who are signed in, who have all scopes. */
export const forOperatorSessions = ((_scope: OperatorScope) =>
  operatorProcedure.use(({ ctx, next }) =>
    next({ ctx: { operator: ctx.principal as Operator } }),
  )) as unknown as OperatorProcedures; // they read the same context

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
  /** What is required besides, of a procedure that does what several others do. */
  readonly also?: { readonly scopes: readonly Scope[]; readonly permissions: readonly Permission[] };
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
  also: { scopes: otherScopes, permissions: otherPermissions } = { scopes: [], permissions: [] },
  input,
}: TeamAccess<Shape>) =>
  procedure
    .meta({ access: { scope, otherScopes, accountLevel: false, permission: permission ?? null, otherPermissions } })
    .input(z.object({ teamId: resourceId, ...(input as Shape) })) // an absent shape spreads to nothing
    .use(async ({ ctx, input: parsed, next }) => {
      const { teamId } = parsed as { teamId: string }; // what the line above parses; inference stops at the generic
      const { principal } = ctx.authentication;
      const membership = principal && (await ctx.findMembership(teamId));
      if (!membership) throw new ProblemError('team_not_found');
      for (const required of [permission, ...otherPermissions]) requirePermission(membership.permissions, required);
      return next({
        ctx: { principal, membership, caller: { teamId, accountId: principal.accountId, credential: principal } },
      });
    });
