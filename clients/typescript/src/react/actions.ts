import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query';
import { useRosterClient, type RosterClient } from './context.ts';
import { rosterKeys } from './queries.ts';
import { useSingleFlight } from './single-flight.ts';

/**
 * A mutation that is sent once for two clicks, and reads the lists it has changed again, also if it failed: the change
 * may have been made.
 */
function useAction<Input, Output>(call: (client: RosterClient, input: Input) => Promise<Output>, changed: QueryKey[]) {
  const client = useRosterClient();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: useSingleFlight((input: Input) => call(client, input)),
    onSettled: () => Promise.all(changed.map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}

type Call<Procedure extends (input: never, ...rest: never[]) => unknown> = Parameters<Procedure>[0];

/** Creates a team, of which the user is the owner. */
export const useCreateTeam = () =>
  useAction(
    (client, input: Call<RosterClient['createTeam']['mutate']>) => client.createTeam.mutate(input),
    [rosterKeys.teams],
  );

/** Invites an email address to a team. For a role of the team itself, `isSystemRole` has to be false. */
export const useInvite = (teamId: string) =>
  useAction(
    (client, input: { email: string; roleId?: string; isSystemRole?: boolean }) =>
      client.createTeamInvitation.mutate({ teamId, ...input }),
    [rosterKeys.invitations(teamId)],
  );

/** Revokes a pending invitation. */
export const useRevokeInvitation = (teamId: string) =>
  useAction(
    (client, { invitationId }: { invitationId: string }) =>
      client.revokeTeamInvitation.mutate({ teamId, invitationId }),
    [rosterKeys.invitations(teamId)],
  );

/** Gives a member another role. */
export const useSetMemberRole = (teamId: string) =>
  useAction(
    (client, input: { userId: string; roleId: string }) => client.members.setRole.mutate({ teamId, ...input }),
    [rosterKeys.members(teamId)],
  );

/** Removes a member, with their keys and grants for the team. */
export const useRemoveMember = (teamId: string) =>
  useAction(
    (client, { userId }: { userId: string }) => client.removeTeamMember.mutate({ teamId, userId }),
    [rosterKeys.members(teamId), rosterKeys.apiKeys(teamId)],
  );

/** Creates an API key. The secret is in `data` only: show it once. */
export const useCreateApiKey = () =>
  useAction(
    (client, input: Call<RosterClient['createApiKey']['mutate']>) => client.createApiKey.mutate(input),
    [[...rosterKeys.all, 'api-keys']],
  );

/** Revokes an API key. */
export const useRevokeApiKey = () =>
  useAction(
    (client, { keyId }: { keyId: string }) => client.revokeApiKey.mutate({ keyId }),
    [[...rosterKeys.all, 'api-keys']],
  );
