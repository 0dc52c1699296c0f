import type { Principal } from '../auth/principal.ts';
import type { Denial } from '../events/denials.ts';
import { PROBLEMS, type ProblemError } from '../errors.ts';
import { ACTOR_KINDS_OF } from '../events/actor.ts';
import type { HttpServices } from './http-services.ts';

type Caller = {
  readonly principal: Principal | null;
  readonly address: string;
  readonly requestId: string;
  /** The team that the call named. */
  readonly teamId?: unknown;
};

/** Notes a refusal for the audit log, where it is one that an auditor asks about. */
export function recordDenial(
  { denials }: Pick<HttpServices, 'denials'>,
  problem: ProblemError,
  { principal, address, requestId, teamId }: Caller,
): void {
  const event = eventOf(problem, principal);
  if (event === null) return;
  // Only of a member: a stranger must not be able to fill the log of a team.
  const isOfTeam = problem.problem === 'permission_missing' && typeof teamId === 'string';
  const attempt: Denial = {
    event,
    reason: problem.problem,
    actorKind: principal === null ? 'anonymous' : ACTOR_KINDS_OF[principal.kind],
    actorId: principal?.accountId ?? null,
    credentialId: principal?.credentialId ?? null,
    clientId: null,
    teamId: isOfTeam ? teamId : null,
    accountId: problem.extras.accountId ?? principal?.accountId ?? null,
    address,
  };
  denials.note(attempt, requestId);
}

const SIGN_IN: ReadonlySet<string> = new Set(['sign_in_failed', 'passkey_refused', 'password_wrong']);
/** What is answered as if it were not there, to somebody who tries. */
const HIDDEN: ReadonlySet<string> = new Set(['team_not_found', 'link_invalid']);

function eventOf({ problem, extras }: ProblemError, principal: Principal | null): Denial['event'] | null {
  if (extras.refused !== undefined) return extras.refused;
  if (SIGN_IN.has(problem)) return 'sign_in.denied';
  // Whoever sends none has tried nothing: every visit of the sign-in page begins like that.
  if (problem === 'credential_missing') return null;
  const [status] = PROBLEMS[problem];
  const isHidden = HIDDEN.has(problem) && (principal !== null || problem === 'link_invalid');
  return status === 401 || status === 403 || isHidden ? 'access.denied' : null;
}
