import { createContext, createElement, useContext, type ReactNode } from 'react';
import type { TRPCClient } from '@trpc/client';
import type { AppRouter } from '../generated/router.ts';

/** The client that the hooks call: that of `createRosterTrpc`, or one with links of your own. */
export type RosterClient = TRPCClient<AppRouter>;

const ClientContext = createContext<RosterClient | null>(null);
const AuthPathContext = createContext('/auth');

/**
 * Gives the hooks below their client. They also need the `QueryClientProvider` of TanStack Query; call
 * `queryClient.clear()` when the user signs out, so that the next one sees nothing of theirs.
 * @param authPath where the routes of `createRosterAuth` are, for `useSession` and `useTeam`. Default: `/auth`
 */
export const RosterProvider = ({
  client,
  authPath = '/auth',
  children,
}: {
  client: RosterClient;
  authPath?: string;
  children?: ReactNode;
}) =>
  createElement(
    ClientContext.Provider,
    { value: client },
    createElement(AuthPathContext.Provider, { value: authPath }, children),
  );

export const useAuthPath = (): string => useContext(AuthPathContext);

/** Returns the client of the provider, for procedures without a hook. */
export function useRosterClient(): RosterClient {
  const client = useContext(ClientContext);
  if (client === null) throw new Error('The hooks of @roster/client/react need a RosterProvider around them.');
  return client;
}
