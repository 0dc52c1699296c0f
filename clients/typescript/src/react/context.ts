import { createContext, createElement, useContext, type ReactNode } from 'react';
import type { TRPCClient } from '@trpc/client';
import type { AppRouter } from '../generated/router.ts';

/** The client that the hooks call: that of `createRosterTrpc`, or one with links of your own. */
export type RosterClient = TRPCClient<AppRouter>;

const ClientContext = createContext<RosterClient | null>(null);

/**
 * Gives the hooks below their client. They also need the `QueryClientProvider` of TanStack Query; call
 * `queryClient.clear()` when the user signs out, so that the next one sees nothing of theirs.
 */
export const RosterProvider = ({ client, children }: { client: RosterClient; children?: ReactNode }) =>
  createElement(ClientContext.Provider, { value: client }, children);

/** Returns the client of the provider, for procedures without a hook. */
export function useRosterClient(): RosterClient {
  const client = useContext(ClientContext);
  if (client === null) throw new Error('The hooks of @roster/client/react need a RosterProvider around them.');
  return client;
}
