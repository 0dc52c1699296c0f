import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../../events/record.ts';
import { lockMany, lockShared } from '../../transactions/locks.ts';
import { transaction } from '../../transactions/transaction.ts';
import { lockCaller, requireVerifiedEmail } from '../../transactions/with-account.ts';
import { lockTeamFor } from '../../transactions/with-team.ts';
import type { Principal } from '../../auth/principal.ts';
import { findActiveMembership } from '../../auth/authenticate.ts';
import { findResource } from '../../auth/resource.ts';
import { isAccountOnly, parseScopes } from '../../auth/scopes.ts';
import { newId, OAuthTokenFamily, type Scope } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import { getHoldValues, type Hold } from './oauth-consent.queries.ts';

type Approval = {
  readonly accountId: string;
  readonly teamId: string | null;
  readonly scopes: readonly Scope[];
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
  { accountId, teamId, scopes }: Approval,
): Promise<string> {
  if (accountId !== caller.accountId) throw new ProblemError('account_changed');
  const membership = teamId === null ? null : await findActiveMembership(db, caller, teamId);
  if (teamId !== null && membership === null) throw new ProblemError('team_not_found');

  await transaction(
    db,
    async (tx) => {
      const request = await lockRequest(tx, hold);
      const granted = selectScopes(request.scope, scopes, teamId !== null);
      // Under the team's lock the membership cannot end before the consent is stored, which then ends with it.
      if (teamId === null) requireVerifiedEmail(await lockCaller(tx, caller, 'share'));
      else await lockTeamFor(tx, { teamId, accountId, credential: caller }, 'member');
      await requireClient(tx, request.client_id);

      const id = newId('family');
      tx.create(OAuthTokenFamily, {
        id,
        account: accountId,
        client: request.client_id,
        team: teamId,
        resource: findResource(config.baseUrl, request.resource) ?? 'api',
        scopes: granted,
      });
      await tx.flush();
      // `remember: false`: oidc-provider keeps no session of its own. Its grants are our token families.
      await storeDecision(tx, hold, { login: { accountId, remember: false }, consent: { grantId: id } });
      record(tx, 'oauth_grant.approved', { accountId, teamId, clientId: request.client_id, scopes: granted });
    },
    { teamId: membership?.team.id },
  );
  return getResumeUrl(config.baseUrl, hold.id);
}

/** Denies a request. @returns the URL at which the browser continues */
export async function deny({ db, config }: Services, caller: Principal, hold: Hold): Promise<string> {
  await transaction(db, async (tx) => {
    const request = await lockRequest(tx, hold);
    await storeDecision(tx, hold, { error: 'access_denied', error_description: 'The request was denied.' });
    record(tx, 'oauth_grant.denied', { accountId: caller.accountId, clientId: request.client_id });
  });
  return getResumeUrl(config.baseUrl, hold.id);
}

const getResumeUrl = (baseUrl: string, id: string): string => `${baseUrl}/oauth/authorize/${encodeURIComponent(id)}`;

type OpenRequest = { readonly client_id: string; readonly scope: string; readonly resource: string | null };

async function lockRequest(tx: EntityManager, hold: Hold): Promise<OpenRequest> {
  const [idHash, browserHash] = getHoldValues(hold);
  await lockMany(tx, 'authorization_request', { idHash, browserHash });
  const [request] = await tx.execute<OpenRequest[]>(
    `select payload->'params'->>'client_id' as client_id, payload->'params'->>'scope' as scope,
       payload->'params'->>'resource' as resource
     from authorization_request
     where id_hash = ? and browser_hash = ? and result is null and expires_at > now()`,
    [idHash, browserHash],
  );
  if (request === undefined) throw new ProblemError('authorization_not_found');
  return request;
}

/** Returns the approved scopes that were requested; for a team, without those of the whole account. */
function selectScopes(requestedScope: string, approved: readonly Scope[], isForTeam: boolean): Scope[] {
  const requested = parseScopes(requestedScope);
  const beyond = approved.findIndex((scope) => !requested.includes(scope));
  if (beyond !== -1) throw invalidInput(`/scopes/${beyond}`, 'The application did not request this scope.');
  const granted = requested.filter((scope) => approved.includes(scope) && !(isForTeam && isAccountOnly(scope)));
  if (granted.length === 0) throw invalidInput('/scopes', 'Select at least one scope that the application requested.');
  return granted;
}

/** Prevents the deletion of the client until the commit. */
async function requireClient(tx: EntityManager, clientId: string): Promise<void> {
  const [client] = await lockShared(tx, 'oauth_client', [clientId]);
  if (client === undefined) throw new ProblemError('authorization_not_found');
}

async function storeDecision(tx: EntityManager, { id, browserToken }: Hold, result: object): Promise<void> {
  const [idHash] = getHoldValues({ id, browserToken });
  await tx.execute('update authorization_request set result = ? where id_hash = ?', [JSON.stringify(result), idHash]);
}
