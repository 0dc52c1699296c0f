import type { Database } from '../../db/database.ts';
import type { Services } from '../../service/services.ts';
import type { Principal } from '../../auth/principal.ts';
import { findActiveMembership } from '../../auth/authenticate.ts';
import { parseScopes } from '../../auth/scopes.ts';
import { nowStep, toNow } from '../../db/clock.ts';
import { command } from '../../db/query.ts';
import { newId, OAuthTokenFamily, type Scope } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { change } from '../../transactions/change.ts';
import { requireVerifiedEmail } from '../accounts/require-account.ts';
import { getResumeUrl, lockRequestStep, readProofs, requireClient, requireOpen, storeDecision } from './decisions.ts';
import {
  findAsked,
  findReasonForPage,
  hasToChooseTeam,
  needsProof,
  type Asked,
  type Reason,
} from './first-party.queries.ts';
import { getHoldValues, type Hold } from './hold.ts';

const TEAM_UNKNOWN = 'The account is no active member of the team that `team` names.';

/** Continues without a page. @returns null, or why a page has to be shown */
export async function continueAtOnce(services: Services, caller: Principal, hold: Hold): Promise<Reason | null> {
  try {
    const findReason = (asked: Asked) => findReasonForPage(asked, services.config.trpcOrigins);
    return await answer(services, caller, hold, { findReason, chosenTeamId: null });
  } catch (error) {
    // The session or the request ended meanwhile. The page says so.
    if (error instanceof ProblemError) return 'interaction_required';
    throw error;
  }
}

/**
 * Continues because the user confirmed it. @returns the URL at which the browser continues
 * @param chosenTeamId the team that the user chose, if the client asks for that
 * @throws proof_required if the client asked for a more recent proof, authorization_not_found for other clients,
 *   team_not_found unless the chosen team is one of the user
 */
export async function continueAs(
  services: Services,
  caller: Principal,
  hold: Hold,
  chosenTeamId: string | null,
): Promise<string> {
  const findReason = (asked: Asked) => {
    if (!asked.is_subject) return 'account_selection_required';
    return needsProof(asked) ? 'login_required' : null;
  };
  const reason = await answer(services, caller, hold, { findReason, chosenTeamId });
  if (reason === 'login_required') throw new ProblemError('proof_required');
  if (reason !== null) await services.db.run(refuseOtherAccount, getHoldValues(hold));
  return getResumeUrl(services.config.baseUrl, hold.id);
}

const refuseWithoutPage = command<{ id_hash: Buffer }>(
  'authorization_request_update_refused',
  `update authorization_request set result = jsonb_build_object('error', $3::text,
     'error_description', 'prompt=none was sent, but a page has to be shown')
   where id_hash = $1 and browser_hash = $2 and result is null and payload->'params'->>'asked_prompt' = 'none'
   returning id_hash`,
);

// Another account than that of its `id_token_hint` signed in.
const refuseOtherAccount = command<{ id_hash: Buffer }>(
  'authorization_request_update_other_account',
  `update authorization_request set result = jsonb_build_object('error', 'login_required',
     'error_description', 'the user of the id_token_hint did not sign in')
   where id_hash = $1 and browser_hash = $2 and result is null
   returning id_hash`,
);

/** Answers a request with an error if its client wants no page. @returns whether it does */
export async function refuseAtOnce(db: Database, hold: Hold, reason: Reason): Promise<boolean> {
  const rows = await db.run(refuseWithoutPage, [...getHoldValues(hold), reason]);
  return rows.length > 0;
}

/**
 * Gives a first-party client the scopes that it asked for, of those that the operator gave it, for as long as the session
 * of the caller lasts. Under the locks, `findReason` decides whether it may. A request for a team in which the user is no
 * active member is answered with an error.
 */
async function answer(
  services: Services,
  caller: Principal,
  hold: Hold,
  { findReason, chosenTeamId }: Decision,
): Promise<Reason | null> {
  const { accountId, credentialId: session } = caller;
  const first = [lockRequestStep(hold)] as const;
  const reads = [[findAsked, [...getHoldValues(hold), session]], nowStep] as const;
  const spec = { on: { account: accountId, isShared: true }, requires: 'self', first, reads } as const;
  return change(services.db, caller, spec, async (opened, [[locked], [asked], time]) => {
    const { record } = opened;
    const request = requireOpen(locked);
    const client = await requireClient(opened, request);
    if (asked === undefined || !client.isFirstParty) throw new ProblemError('authorization_not_found');
    const reason = findReason(asked);
    if (reason !== null) return reason;
    requireVerifiedEmail(opened.account);
    const team = await findActiveTeam(services.db, caller, asked, chosenTeamId);
    if (team === undefined) {
      storeDecision(opened, hold, { error: 'access_denied', error_description: TEAM_UNKNOWN });
      return null;
    }
    const scopes = selectScopes(request.scope, client.scopes ?? []);
    const id = newId('family');
    const proofs = await readProofs(opened, caller);
    opened.em.create(OAuthTokenFamily, {
      id,
      account: accountId,
      client: client.id,
      resource: 'api',
      session,
      logoutCheckAt: toNow(time),
      activeTeamId: team,
      scopes,
      proofs,
      openidScopes: asked.openid?.split(' ') ?? null,
      nonce: asked.openid === null ? null : asked.nonce,
    });
    storeDecision(opened, hold, { login: { accountId, remember: false }, consent: { grantId: id } });
    record('oauth_grant.approved', { accountId, clientId: client.id, scopes });
    return null;
  });
}

type Decision = {
  readonly findReason: (asked: Asked) => Reason | null;
  readonly chosenTeamId: string | null;
};

/**
 * Returns the team in which the user of the tokens works: null without one, undefined for one in which they are no active
 * member. The exchange of the code and each refresh look again.
 */
async function findActiveTeam(
  db: Services['db'],
  caller: Principal,
  asked: Asked,
  chosenTeamId: string | null,
): Promise<string | null | undefined> {
  if (!hasToChooseTeam(asked)) return asked.asked_team === null ? null : (asked.team_id ?? undefined);
  if (chosenTeamId === null) throw invalidInput('/teamId', 'Choose a team.', 'required');
  const membership = await findActiveMembership(db, caller, chosenTeamId);
  if (membership === null) throw new ProblemError('team_not_found');
  return chosenTeamId;
}

const selectScopes = (requested: string, allowed: readonly Scope[]): Scope[] =>
  parseScopes(requested).filter((scope) => allowed.includes(scope));
