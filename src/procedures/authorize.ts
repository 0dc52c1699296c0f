import type { Authentication } from '../auth/authenticate.ts';
import type { OperatorScope, Permission, Scope } from '../entities/index.ts';
import { ProblemError } from '../problems/error.ts';

/** The access level of a procedure: enforced by the builders in `procedures.ts`, and shown in the documentation. */
export type Access = {
  readonly scope: Scope | OperatorScope | null;
  /** Scopes that are required besides. */
  readonly otherScopes?: readonly (Scope | OperatorScope)[];
  /** An operation of the operator API: requires an operator key, with `scope`. */
  readonly isOperatorApi?: true;
  /** Requires a user session: API keys and OAuth tokens are denied. */
  readonly sessionOnly?: true;
  /** Also open to first-party tokens with this scope, though it requires a session of all other callers. Default: none. */
  readonly firstParty?: Scope;
  /** Requires an operator of this instance; checked by `operatorProcedure`. */
  readonly operatorOnly?: true;
  /** Account-level (spec 4): team credentials are denied. */
  readonly accountLevel: boolean;
  readonly permission: Permission | null;
  /** Permissions that are required besides. */
  readonly otherPermissions?: readonly Permission[];
  /** Also open to the browser of a sign-up whose email address is not verified yet. */
  readonly isOpenToSignUps?: true;
};

/** Checks credential, scope and audience in this order, before the input is read. @throws a 401 or 403 error */
export function authorize(authentication: Authentication, access: Access): void {
  if (access.isOperatorApi) {
    authorizeOperator(authentication, access);
    return;
  }
  if (authentication.principal === null) {
    if (access.isOpenToSignUps && authentication.signUp !== undefined) return;
    throw authentication.refusal;
  }
  const { principal } = authentication;
  const isFirstParty = access.firstParty !== undefined && Boolean(principal.sessionId);
  if (access.sessionOnly && principal.kind !== 'session' && !isFirstParty) throw new ProblemError('session_required');
  const missing = findMissingScope(principal, isFirstParty ? { scope: access.firstParty } : access);
  if (missing !== undefined) {
    throw new ProblemError('scope_missing', `A credential with the scope ${missing} is required.`, {
      scope: missing,
      // A token with a thumbprint was only accepted with a proof.
      ...(authentication.token?.thumbprint && { dpop: 'used' }),
    });
  }
  if (access.accountLevel && principal.teamId !== null) {
    throw new ProblemError('team_credential_refused');
  }
}

function authorizeOperator(authentication: Authentication, access: Access): void {
  if (authentication.principal !== null) throw new ProblemError('credential_invalid');
  const { operator } = authentication;
  if (operator === undefined) throw authentication.refusal;
  const missing = findMissingScope(operator, access);
  if (missing === undefined) return;
  throw new ProblemError('scope_missing', `An operator key with the scope ${missing} is required.`, { scope: missing });
}

/** Returns the scopes that a call needs, all of them. */
export const scopesOf = ({ scope, otherScopes = [] }: Pick<Access, 'scope' | 'otherScopes'>): readonly string[] =>
  scope === null ? otherScopes : [scope, ...otherScopes];

const findMissingScope = (
  { scopes }: { readonly scopes: readonly string[] },
  access: Pick<Access, 'scope' | 'otherScopes'>,
): string | undefined => scopesOf(access).find((scope) => !scopes.includes(scope));
