import { createTRPCClient, httpBatchLink, type HTTPBatchLinkOptions, type TRPCClient } from '@trpc/client';
import type { AppRouter } from './generated/router.ts';
import { presentCredential, type Bearer } from './methods.ts';

export type { AppRouter } from './generated/router.ts';

export type RosterTrpcOptions = {
  /** Scheme, host and port of the service. Leave it out in pages that the service itself serves. */
  readonly baseUrl?: string;
  /** An API key or access token, or a function that returns the present one. Leave it out to use the session cookie. */
  readonly credential?: Bearer;
  /** Replaces the global `fetch`. */
  readonly fetch?: HTTPBatchLinkOptions<AppRouter['_def']['_config']['$types']>['fetch'];
};

/** The largest batch that the service accepts. */
const BATCH_CALLS_MAX = 20;

/**
 * Creates a tRPC client of all procedures. Calls of the same tick share a request.
 * The problem document of an error is in `error.data.problem`.
 */
export function createRosterTrpc({ baseUrl = '', credential, fetch }: RosterTrpcOptions = {}): TRPCClient<AppRouter> {
  const headers = async (): Promise<Record<string, string>> =>
    credential === undefined ? {} : { authorization: `Bearer ${await presentCredential(credential)}` };
  return createTRPCClient<AppRouter>({
    links: [
      httpBatchLink({
        url: `${baseUrl}/trpc`,
        maxItems: BATCH_CALLS_MAX,
        headers,
        ...(fetch !== undefined && { fetch }),
      }),
    ],
  });
}
