import type { OperatorPrincipal, Principal } from '../auth/principal.ts';
import { denied, type Denial } from '../events/denials.ts';
import type { RequestIds } from '../events/request-ids.ts';
import type { ProblemError } from '../problems/error.ts';
import { PROBLEMS } from '../problems/catalogue.ts';
import { ACTOR_KINDS_OF } from '../events/actor.ts';
import type { HttpServices } from './http-services.ts';

export type DenialCaller = {
  readonly principal: Principal | OperatorPrincipal | null;
  readonly address: string;
  readonly requestIds: RequestIds;
  /** The team id in the input. */
  readonly teamId?: unknown;
};

/** Records a denial for the audit log. Other errors are not recorded. */
export function recordDenial(
  { denials }: Pick<HttpServices, 'denials'>,
  problem: ProblemError,
  { principal, address, requestIds, teamId }: DenialCaller,
): void {
  const event = findDenialEvent(problem, principal);
  if (event === null) return;
  // Only for members: other callers must not be able to fill the audit log of a team.
  const account = principal?.kind === 'operator-key' ? null : principal;
  const concernsTeam = problem.problem === 'permission_missing' && typeof teamId === 'string';
  const denial = denied(event, problem.problem, {
    actorKind: principal === null ? 'anonymous' : ACTOR_KINDS_OF[principal.kind],
    actorId: account?.accountId ?? null,
    credentialId: principal?.credentialId ?? problem.extras.credentialId ?? null,
    clientId: account?.clientId ?? null,
    teamId: concernsTeam ? teamId : null,
    accountId: problem.extras.accountId ?? account?.accountId ?? null,
    address,
  });
  denials.note(denial, requestIds);
}

const SIGN_IN: ReadonlySet<string> = new Set(['sign_in_failed', 'passkey_refused', 'password_wrong']);
/** Denials that look like missing resources to the caller. */
const HIDDEN: ReadonlySet<string> = new Set(['team_not_found', 'link_invalid']);

function findDenialEvent(
  { problem, extras }: ProblemError,
  principal: DenialCaller['principal'],
): Denial['event'] | null {
  if (extras.denial !== undefined) return extras.denial;
  if (SIGN_IN.has(problem)) return 'sign_in.denied';
  // Not an attempt: every visit to the sign-in page starts without a credential.
  if (problem === 'credential_missing') return null;
  const [status] = PROBLEMS[problem];
  const isHidden = HIDDEN.has(problem) && (principal !== null || problem === 'link_invalid');
  return status === 401 || status === 403 || isHidden ? 'access.denied' : null;
}
