import { useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query';
import type { TRPCClientError } from '@trpc/client';
import type { AppRouter } from '../generated/router.ts';
import { useRosterClient, type RosterClient } from './context.ts';
import { changeRows, reload, type Changed } from './reload.ts';
import { useSingleFlight } from './single-flight.ts';

type Action<Input, Output> = {
  readonly call: (client: RosterClient, input: Input) => Promise<Output>;
  /** What it changes: it is read again, also after an error, because the change may have been made. */
  readonly changed: Changed;
  /** Shows the result before it is read again. */
  readonly show?: (queries: QueryClient, input: Input, output: Output) => Promise<void>;
};

/** A mutation that is sent once for two clicks, and after which what it has changed is read again. */
function useAction<Input, Output>({ call, changed, show }: Action<Input, Output>) {
  const client = useRosterClient();
  const queries = useQueryClient();
  return useMutation<Output, TRPCClientError<AppRouter>, Input>({
    mutationFn: useSingleFlight((input: Input) => call(client, input)),
    onSuccess: (output, input) => show?.(queries, input, output),
    onSettled: () => void reload(queries, changed), // not waited for: what is shown is right already
  });
}

type Call<Procedure extends (input: never, ...rest: never[]) => unknown> = Parameters<Procedure>[0];
type InTeam<Procedure extends (input: never, ...rest: never[]) => unknown> = Omit<Call<Procedure>, 'teamId'>;

/** Creates a team, of which the user is the owner. */
export const useCreateTeam = () =>
  useAction({
    call: (client, input: Call<RosterClient['createTeam']['mutate']>) => client.createTeam.mutate(input),
    changed: { paths: /^listTeams$/ },
  });

/** What an invitation changes. */
export const invitationsOf = (teamId: string): Changed => ({ paths: /invitation/i, teamId });

/** Invites an email address to a team. For a role of the team itself, `isSystemRole` has to be false. */
export const useInvite = (teamId: string) =>
  useAction({
    call: (client, input: InTeam<RosterClient['createTeamInvitation']['mutate']>) =>
      client.createTeamInvitation.mutate({ teamId, ...input }),
    changed: invitationsOf(teamId),
  });

/** Revokes a pending invitation. */
export const useRevokeInvitation = (teamId: string) =>
  useAction({
    call: (client, { invitationId }: { invitationId: string }) =>
      client.revokeTeamInvitation.mutate({ teamId, invitationId }),
    changed: invitationsOf(teamId),
    show: (queries, { invitationId }) =>
      changeRows<{ id: string }>(queries, { paths: /^(listTeamInvitations|invitations\.list)$/, teamId }, (rows) =>
        rows.filter(({ id }) => id !== invitationId),
      ),
  });

const MEMBER_LISTS = /^(listTeamMembers|members\.list)$/;

/** The role of a member, whether the membership is active, or when it ends (null: never). */
export type MemberChange =
  | { readonly roleId: string }
  | { readonly isActive: boolean }
  | { readonly expiresAt: string | null };

/** Whose membership an action is about. */
export type MemberId =
  | { readonly accountId: string }
  | {
      /** @deprecated The same as `accountId`, its present name. */
      readonly userId: string;
    };

const idOf = (member: MemberId): string => ('accountId' in member ? member.accountId : member.userId);

/** Changes the role of a member, deactivates or activates the membership, or sets when it ends. */
export const useChangeMember = (teamId: string) =>
  useAction({
    call: ({ members }, change: MemberChange & MemberId) => {
      const of = { teamId, accountId: idOf(change) };
      if ('roleId' in change) return members.setRole.mutate({ ...of, roleId: change.roleId });
      if ('expiresAt' in change) return members.setExpiry.mutate({ ...of, expiresAt: change.expiresAt });
      return change.isActive ? members.activate.mutate(of) : members.deactivate.mutate(of);
    },
    changed: { paths: /./, teamId },
    show: (queries, change, member) =>
      changeRows<{ userId: string }>(queries, { paths: MEMBER_LISTS, teamId }, (rows) =>
        rows.map((row) => (row.userId === member.userId ? { ...row, ...change, ...member } : row)),
      ),
  });

/** Removes a member, with their keys and grants for the team, and if asked for with all invitations that they sent. */
export const useRemoveMember = (teamId: string) =>
  useAction({
    call: (client, { withInvitations, ...member }: MemberId & { readonly withInvitations?: boolean }) => {
      const accountId = idOf(member);
      return withInvitations
        ? client.members.removeWithInvitations.mutate({ teamId, accountId })
        : client.removeTeamMember.mutate({ teamId, userId: accountId });
    },
    changed: { paths: /./, teamId },
    show: (queries, removed) =>
      changeRows<{ userId: string }>(queries, { paths: MEMBER_LISTS, teamId }, (rows) =>
        rows.filter(({ userId }) => userId !== idOf(removed)),
      ),
  });

const KEYS = { paths: /api-?keys/i };

/**
 * Creates an API key of the account, or of a team, with permissions of the product. It needs no scope then. The secret is
 * in `data` only: show it once.
 */
export const useCreateApiKey = (teamId: string | null) =>
  useAction({
    call: (client, input: InTeam<RosterClient['apiKeys']['create']['mutate']>) =>
      client.apiKeys.create.mutate({ ...input, ...(teamId !== null && { teamId }) }),
    changed: KEYS,
  });

/** Revokes an own API key, or with the id of a team any key of it, which needs the permission to manage its keys. */
export const useRevokeApiKey = (teamId: string | null) =>
  useAction({
    call: (client, { keyId }: { keyId: string }) =>
      teamId === null ? client.revokeApiKey.mutate({ keyId }) : client.apiKeys.revokeInTeam.mutate({ teamId, keyId }),
    changed: KEYS,
    show: (queries, { keyId }) =>
      changeRows<{ id: string }>(queries, { paths: /^(listApiKeys|apiKeys\.list)$/ }, (rows) =>
        rows.filter(({ id }) => id !== keyId),
      ),
  });
