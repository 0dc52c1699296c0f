import { change } from '../../transactions/change.ts';
import type { LockedAccount } from '../../transactions/lock-steps.ts';
import { requireVerifiedEmail } from '../accounts/require-account.ts';
import type { Change } from '../../transactions/steps.ts';
import type { Principal } from '../../auth/principal.ts';
import { findActiveMembership } from '../../auth/authenticate.ts';
import { findResource } from '../../auth/resource.ts';
import { isAccountOnly, parseScopes } from '../../auth/scopes.ts';
import { newId, OAuthTokenFamily, type ProductPermission, type Scope } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { notify } from '../../jobs/notify.ts';
import type { Services } from '../../service/services.ts';
import { getResumeUrl, lockRequestStep, readProofs, requireClient, requireOpen, storeDecision } from './decisions.ts';
import type { LockedRequest } from './decisions.ts';
import { lockCatalogueStep } from '../permissions/declared-permissions.ts';
import { findAsked, needsProof, type Asked } from './first-party.queries.ts';
import { getHoldValues, type Hold } from './hold.ts';

/** An approval for the whole account has the account. */
type Opened = Change & { readonly account: LockedAccount | null };

type Approval = {
  readonly teamId: string | null;
  readonly scopes: readonly Scope[];
  /** What the page showed; all for which the client asks, if it does not say. */
  readonly permissions?: readonly ProductPermission[] | undefined;
};

/**
 * Approves a request, for the whole account or for one team. It can be answered once. Access changes only when the
 * client exchanges the code that the consent leads to.
 * @returns the URL at which the browser continues
 */
export async function approve(
  { db, config }: Services,
  caller: Principal,
  hold: Hold,
  { teamId, scopes, permissions }: Approval,
): Promise<string> {
  const { accountId } = caller;
  const membership = teamId === null ? null : await findActiveMembership(db, caller, teamId);
  if (teamId !== null && membership === null) throw new ProblemError('team_not_found');

  const approveAs = async (opened: Opened, [[locked], [asked]]: readonly [LockedRequest[], Asked[], object[]]) => {
    const { record } = opened;
    const request = requireOpen(locked);
    const openid = asked?.openid?.split(' ') ?? null;
    const granted = selectScopes(request.scope, scopes, teamId !== null, openid !== null);
    if (opened.account !== null) requireVerifiedEmail(opened.account);
    const { name: clientName, isFirstParty, productPermissions } = await requireClient(opened, request);
    // Nobody consents to those: see `first-party.service.ts`.
    if (isFirstParty) throw new ProblemError('authorization_not_found');
    if (asked !== undefined && openid !== null) {
      if (!asked.is_subject) {
        storeDecision(opened, hold, OTHER_ACCOUNT);
        return;
      }
      if (needsProof(asked)) throw new ProblemError('proof_required');
    }

    const id = newId('family');
    opened.em.create(OAuthTokenFamily, {
      id,
      account: accountId,
      client: request.client_id,
      team: teamId,
      resource: findResource(config.baseUrl, request.resource) ?? 'api',
      scopes: granted,
      productPermissions: productPermissions.filter((name) => permissions?.includes(name) !== false),
      proofs: await readProofs(opened, caller),
      openidScopes: openid,
      nonce: openid === null ? null : (asked?.nonce ?? null),
    });
    // `remember: false`: oidc-provider keeps no session of its own. Its grants are our token families.
    storeDecision(opened, hold, { login: { accountId, remember: false }, consent: { grantId: id } });
    record('oauth_grant.approved', { accountId, teamId, clientId: request.client_id, scopes: granted });
    await notify(opened, accountId, { kind: 'app_connected', thing: clientName, teamId });
  };
  const first = [lockRequestStep(hold)] as const;
  const reads = [[findAsked, [...getHoldValues(hold), caller.credentialId]], lockCatalogueStep] as const;
  if (teamId === null) {
    const spec = { on: { account: accountId, isShared: true }, requires: 'self', first, reads } as const;
    await change(db, caller, spec, approveAs);
  } else {
    // Under the team's lock the membership cannot end before the consent is stored, which then ends with it.
    const spec = { on: { team: teamId }, requires: 'member', first, reads } as const;
    const member = { teamId, accountId, credential: caller };
    await change(db, member, spec, approveAs);
  }
  return getResumeUrl(config.baseUrl, hold.id);
}

/** Denies a request. @returns the URL at which the browser continues */
export async function deny({ db, config }: Services, caller: Principal, hold: Hold): Promise<string> {
  const { accountId } = caller;
  const first = [lockRequestStep(hold)] as const;
  const spec = { on: { account: accountId, isShared: true }, requires: 'self', first } as const;
  await change(db, caller, spec, (opened, [[locked]]) => {
    const request = requireOpen(locked);
    storeDecision(opened, hold, { error: 'access_denied', error_description: 'The request was denied.' });
    opened.record('oauth_grant.denied', { accountId, clientId: request.client_id });
  });
  return getResumeUrl(config.baseUrl, hold.id);
}

/** The error if another account than that of the `id_token_hint` approves (Core, section 3.1.2.1). */
const OTHER_ACCOUNT = {
  error: 'login_required',
  error_description: 'the user of the id_token_hint did not sign in',
};

/**
 * Returns the approved scopes that were requested; for a team, without those of the whole account.
 * @param isForSignIn whether the client also asked who the user is, so that there can be none
 */
function selectScopes(
  requestedScope: string,
  approved: readonly Scope[],
  isForTeam: boolean,
  isForSignIn: boolean,
): Scope[] {
  const requested = parseScopes(requestedScope);
  const beyond = approved.findIndex((scope) => !requested.includes(scope));
  if (beyond !== -1) throw invalidInput(`/scopes/${beyond}`, 'The application did not request this scope.');
  const granted = requested.filter((scope) => approved.includes(scope) && !(isForTeam && isAccountOnly(scope)));
  if (granted.length === 0 && !isForSignIn)
    throw invalidInput('/scopes', 'Select at least one scope that the application requested.');
  return granted;
}
