import type { Principal } from '../../auth/principal.ts';
import { query } from '../../db/query.ts';
import type { Services } from '../../service/services.ts';
import { change } from '../../transactions/change.ts';
import { revokeSessions } from '../sessions/sessions.service.ts';
import { readSigned } from './signing-keys.ts';
import type { TransactionScope } from '../../transactions/steps.ts';

/** The parameters of a logout request (RP-Initiated Logout, section 2) that Roster uses. */
export const LOGOUT_PARAMETERS = [
  'id_token_hint',
  'client_id',
  'post_logout_redirect_uri',
  'state',
  'ui_locales',
] as const;

export type LogoutParameters = Readonly<Partial<Record<(typeof LOGOUT_PARAMETERS)[number], string>>>;

/** A logout request that is not followed. The message is for the developer of the application. */
export class LogoutRejectedError extends Error {
  override name = 'LogoutRejectedError';
}

/** A logout request whose parameters were checked. */
export type LogoutRequest = {
  /** Where the browser is sent afterwards, with the `state`; null for a page of Roster. */
  readonly redirectTo: string | null;
  /** The account and session of the id token; null without one. */
  readonly hint: IdTokenHint | null;
};

/** Who a signed id token is about. */
export type IdTokenHint = { readonly sub: string; readonly sid: string | null; readonly aud: string };

/**
 * Returns who an id token is about. It can have expired: a hint only says who is meant.
 * @returns undefined if Roster has not signed it as an id token, or its key is no longer kept
 */
export async function readHint({ db, config }: Services, token: string): Promise<IdTokenHint | undefined> {
  const claims = await readSigned(db, token);
  const { iss, sub, sid, aud } = claims ?? {};
  if (iss !== config.baseUrl || typeof sub !== 'string' || typeof aud !== 'string') return undefined;
  return { sub, aud, sid: typeof sid === 'string' ? sid : null };
}

const findReturns = query<{ uris: string[] }>(
  'oauth_client_find_returns',
  'select post_logout_redirect_uris as uris from oauth_client where id = $1 and deleted_at is null',
);

/** Checks a logout request. @throws LogoutRejectedError */
export async function readLogoutRequest(services: Services, asked: LogoutParameters): Promise<LogoutRequest> {
  const { id_token_hint: token, post_logout_redirect_uri: uri, state } = asked;
  const hint = token === undefined ? undefined : await readHint(services, token);
  if (token !== undefined && hint === undefined)
    throw new LogoutRejectedError('id_token_hint is not an id token of this server');
  const clientId = asked.client_id ?? hint?.aud;
  if (hint !== undefined && hint.aud !== clientId)
    throw new LogoutRejectedError('client_id is not the client of the id_token_hint');
  if (uri === undefined) return { redirectTo: null, hint: hint ?? null };
  if (clientId === undefined)
    throw new LogoutRejectedError('post_logout_redirect_uri needs an id_token_hint or a client_id');
  const [client] = await services.db.query(findReturns, [clientId]);
  if (!client?.uris.includes(uri)) throw new LogoutRejectedError('post_logout_redirect_uri is not registered');
  return { redirectTo: addState(uri, state), hint: hint ?? null };
}

/** Adds the state to a URI as it was registered: parsing and writing it could change its bytes. */
const addState = (uri: string, state: string | undefined): string =>
  state === undefined ? uri : `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams({ state }).toString()}`;

/** Whether an id token of the session itself says that its user wants to sign out. Otherwise the user is asked. */
export const isOfSession = (hint: IdTokenHint | null, { accountId, credentialId }: Principal): boolean =>
  hint !== null && hint.sub === accountId && hint.sid === credentialId;

/** Ends a session because an application asked for it. */
export const endByApplication = (db: TransactionScope, { credentialId }: Principal): Promise<number> =>
  change(db, 'visitor', { on: 'installation', requires: 'nothing' }, (tx) =>
    revokeSessions(tx, { id: credentialId }, 'signed out by an application'),
  );

/**
 * Ends the session that an id token names, for a browser without one: its cookie can be lost or deleted while the session
 * goes on, and the application tells its user that they are signed out. A stolen id token can end that one session, and
 * gives access to nothing.
 */
export const endHinted = async (db: TransactionScope, { sub: account, sid: id }: IdTokenHint): Promise<void> => {
  if (id === null) return;
  await change(db, 'visitor', { on: 'installation', requires: 'nothing' }, (tx) =>
    revokeSessions(tx, { id, account }, 'signed out by an application'),
  );
};
