import { errors, type Client } from 'oidc-provider';
import type { Principal } from '../auth/principal.ts';
import type { Services } from '../service/services.ts';
import { EXTERNAL_ID_PREFIX } from '../entities/index.ts';
import { isStorable } from '../procedures/fields.ts';
import { currentActor, runAs } from '../events/actor.ts';
import type { Hold } from '../resources/oauth-consent/hold.ts';
import { continueAtOnce, refuseAtOnce } from '../resources/oauth-consent/first-party.service.ts';

/** Whether a client is marked as first-party. Only our store sets this member: see `client-metadata.ts`. */
export const isFirstParty = (client: Client | undefined): boolean => client?.metadata()['first_party'] === true;

/** Whether a token belongs to a session: those of first-party clients do. */
export const isOfSession = (token: { readonly sid?: string | undefined } | undefined): boolean =>
  token?.sid !== undefined;

/** An id, a slug, or `ext:` and an external id. */
const TEAM_LENGTH_MAX = EXTERNAL_ID_PREFIX.length + 255;

/** @throws InvalidRequest if a text cannot name a team */
export function requireTeamReference(team: string): void {
  if (team.length > TEAM_LENGTH_MAX || !isStorable(team)) throw new errors.InvalidRequest('team is not valid');
}

type Asking = {
  readonly client: Client | undefined;
  /** Who is signed in to the browser. */
  readonly principal: Principal | undefined;
};

/**
 * Answers a request without a page: with a code, if the client is first-party, the browser is signed in and nothing has to
 * be asked, else with an error, if the client wants no page (`prompt=none`).
 * @returns false if a page has to be shown
 */
export async function answerAtOnce(services: Services, hold: Hold, { client, principal }: Asking): Promise<boolean> {
  if (principal === undefined) return refuseAtOnce(services.db, hold, 'login_required');
  if (!isFirstParty(client)) return refuseAtOnce(services.db, hold, 'consent_required');
  const problem = await asAccount(principal, () => continueAtOnce(services, principal, hold));
  return problem === null || refuseAtOnce(services.db, hold, problem);
}

/** Runs as the account of the browser's session, as which the console's procedures run. */
function asAccount<Result>(principal: Principal, act: () => Promise<Result>): Promise<Result> {
  const { accountId: actorId, credentialId } = principal;
  return runAs({ ...currentActor(), actorKind: 'session', actorId, credentialId }, act);
}
