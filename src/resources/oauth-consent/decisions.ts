import type { Principal } from '../../auth/principal.ts';
import { proofsOf } from '../../auth/session-proofs.ts';
import { OAuthClient, type Proofs } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { command, query } from '../../db/query.ts';
import { lockRows } from '../../transactions/lock-order.ts';
import { lockClientShared } from '../../transactions/lock-steps.ts';
import type { Change } from '../../transactions/steps.ts';
import { hasRedirectUri } from '../oauth-clients/redirect-uri.ts';
import { getHoldValues, type Hold } from './hold.ts';

// What the decisions about all authorization requests have in common.

export const getResumeUrl = (baseUrl: string, id: string): string =>
  `${baseUrl}/oauth/authorize/${encodeURIComponent(id)}`;

export type LockedRequest = {
  id: string;
  client_id: string;
  redirect_uri: string;
  scope: string;
  resource: string | null;
};

/** Locks the open authorization request of a browser. */
const lockAuthorizationRequest = lockRows<LockedRequest>(
  'authorization_request',
  'authorization_request_lock',
  `select encode(id_hash, 'hex') as id, payload->'params'->>'client_id' as client_id,
     payload->'params'->>'scope' as scope, payload->'params'->>'resource' as resource,
     payload->'params'->>'redirect_uri' as redirect_uri
   from authorization_request
   where id_hash = $1 and browser_hash = $2 and result is null and expires_at > now()`,
);

/** Locks the request that is answered, before the account or team. */
export const lockRequestStep = (hold: Hold) => [lockAuthorizationRequest, getHoldValues(hold)] as const;

/** @throws authorization_not_found if it was answered, has expired or is of another browser */
export function requireOpen(request: LockedRequest | undefined): LockedRequest {
  if (request === undefined) throw new ProblemError('authorization_not_found');
  return request;
}

const proofsOfSession = query<{ proofs: Proofs }>(
  'session_find_proofs',
  `select ${proofsOf('s')} as proofs from session s where s.id = $1`,
);

/** Returns a copy of what the session proves that approves. Its later proofs are none of the client’s tokens. */
export async function readProofs({ run }: Change, { credentialId }: Principal): Promise<Proofs | null> {
  const [[row]] = await run([[proofsOfSession, [credentialId]]]);
  return row?.proofs ?? null;
}

/**
 * Prevents the deletion of the client until the commit, and requires that it still has the redirect URI.
 */
export async function requireClient(tx: Change, request: LockedRequest): Promise<OAuthClient> {
  await tx.run([[lockClientShared, [request.client_id]]]);
  const client = await tx.em.findOne(OAuthClient, { id: request.client_id, deletedAt: null });
  if (client === null || !hasRedirectUri(client, request.redirect_uri))
    throw new ProblemError('authorization_not_found');
  return client;
}

const storeResult = command<never>(
  'authorization_request_update_result',
  'update authorization_request set result = $2::json where id_hash = $1',
);

export function storeDecision({ later }: Change, hold: Hold, result: object): void {
  const [idHash] = getHoldValues(hold);
  later([storeResult, [idHash, JSON.stringify(result)]]);
}
