import { createTRPCClient, httpBatchLink, type HTTPBatchLinkOptions, type TRPCClient } from '@trpc/client';
import type { AppRouter } from './generated/router.ts';
import { presentCredential, type Bearer } from './methods.ts';
import { proofLink } from './proof-link.ts';

export { proofLink } from './proof-link.ts';
export { repeatLink } from './repeat-link.ts';
export { isRosterTrpcError } from './trpc-error.ts';
export type { AppRouter } from './generated/router.ts';

export type RosterTrpcOptions = {
  /** Scheme, host and port of the service. Leave it out in pages that the service itself serves. */
  readonly baseUrl?: string;
  /** An API key or access token, or a function that returns the present one. Leave it out to use the session cookie. */
  readonly credential?: Bearer;
  /**
   * Asks for the proof of who the user is that some calls of a session need (`proof_required`), for which it can call
   * `account.prove`, and returns whether there is one. Then the call is sent again.
   */
  readonly onProofRequired?: () => Promise<boolean>;
  /** Replaces the global `fetch`. */
  readonly fetch?: HTTPBatchLinkOptions<AppRouter['_def']['_config']['$types']>['fetch'];
};

/** The largest batch that the service accepts. */
const BATCH_CALLS_MAX = 20;
/** In characters; batches of longer ones are divided. Every server accepts 8,000 (RFC 9110, section 4.1). */
const URL_LENGTH_MAX = 8000;

/**
 * Creates a tRPC client of all procedures. Calls of the same tick share a request.
 * The problem document of an error is in `error.data.problem`.
 */
export function createRosterTrpc({
  baseUrl = '',
  credential,
  onProofRequired,
  fetch,
}: RosterTrpcOptions = {}): TRPCClient<AppRouter> {
  const headers = async (): Promise<Record<string, string>> =>
    credential === undefined ? {} : { authorization: `Bearer ${await presentCredential(credential)}` };
  return createTRPCClient<AppRouter>({
    links: [
      ...(onProofRequired === undefined ? [] : [proofLink(onProofRequired)]),
      httpBatchLink({
        url: `${baseUrl}/trpc`,
        maxItems: BATCH_CALLS_MAX,
        maxURLLength: URL_LENGTH_MAX,
        headers,
        ...(fetch !== undefined && { fetch }),
      }),
    ],
  });
}
