import type { Authentication } from '../auth/authenticate.ts';
import type { Permission, Scope } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';

/** Who may call a procedure: enforced by the ladder in `procedures.ts`, and shown in the documents. */
export type Access = {
  readonly scope: Scope | null;
  /** Somebody signed in: keys and grants are refused. */
  readonly sessionOnly?: true;
  /** Of those only operators of this installation; `operatorProcedure` looks. */
  readonly operatorOnly?: true;
  /** Account-level (spec 4): a team credential is refused. */
  readonly accountLevel: boolean;
  readonly permission: Permission | null;
  /** Also answers in the browser of a sign-up whose email address is not verified yet. */
  readonly isOpenToSignUps?: true;
};

/** Checks credential, then scope, then audience: 401 or 403, before the request's input is read. */
export function authorize(authentication: Authentication, access: Access): void {
  if (authentication.principal === null) {
    if (access.isOpenToSignUps && authentication.signUp !== undefined) return;
    throw authentication.refusal;
  }
  const { principal } = authentication;
  if (access.sessionOnly && principal.kind !== 'session') throw new ProblemError('session_required');
  if (access.scope !== null && !principal.scopes.includes(access.scope)) {
    throw new ProblemError('scope_missing', `This needs a credential with the scope ${access.scope}.`, {
      scope: access.scope,
      // Without a proof a token with a thumbprint gets nowhere.
      ...(authentication.token?.thumbprint && { dpop: 'used' }),
    });
  }
  if (access.accountLevel && principal.teamId !== null) {
    throw new ProblemError('team_credential_refused');
  }
}
