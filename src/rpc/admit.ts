import type { Authentication } from '../access/authenticate.ts';
import type { Principal } from '../access/principal.ts';
import { ProblemError } from '../errors.ts';
import type { Access } from './trpc.ts';

/** Refuses by credential, then scope, then audience: 401 or 403, before anything of the request is read. */
export function admit(authentication: Authentication, access: Access): Principal {
  if (authentication.principal === null) throw authentication.refusal;
  const { principal } = authentication;
  if (access.scope !== null && !principal.scopes.includes(access.scope)) {
    throw new ProblemError('scope_missing', `This needs a credential with the scope ${access.scope}.`, {
      scope: access.scope,
    });
  }
  if (access.accountLevel && principal.teamId !== null) {
    throw new ProblemError('team_credential_refused');
  }
  return principal;
}
