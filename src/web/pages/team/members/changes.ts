import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNotice } from '../../../components/notices.tsx';
import { toFailure, type Failure } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam } from '../team.ts';
import { membersQuery, type Member } from './member.ts';

export type MemberChange = {
  readonly member: Member;
  /** The optimistic value until the service responds. */
  readonly now: Partial<Member>;
  readonly call: () => Promise<unknown>;
  readonly notice: string;
};

/** Calls the service and then reloads the team, also after an error, which can mean that the page was out of date. */
export function useTeamCall() {
  const refresh = useTeamRefresh();
  return <Output>(call: Promise<Output>): Promise<Output> => call.finally(() => void refresh());
}

/** Changes a row of the list immediately, and reverts it on an error. */
export function useMemberChanges() {
  const queries = useQueryClient();
  const notify = useNotice();
  const refresh = useTeamRefresh();
  const { team } = useTeam();
  const [refusal, setRefusal] = useState<{ member: Member; failure: Failure }>();
  const { queryKey } = membersQuery(team.id);

  const show = (userId: string, change: (member: Member) => Member) =>
    queries.setQueryData(queryKey, (members) =>
      members?.map((member) => (member.userId === userId ? change(member) : member)),
    );

  const { mutate } = useMutation({
    mutationFn: ({ call }: MemberChange) => call(),
    onMutate: async ({ member: { userId }, now }) => {
      setRefusal(undefined);
      // A running query would overwrite the row with its old value.
      await queries.cancelQueries({ queryKey });
      show(userId, (member) => ({ ...member, ...now }));
    },
    onSuccess: (_output, { notice }) => notify(notice),
    // Reverts only this row, because another can be changing concurrently.
    onError: (error, { member }) => {
      show(member.userId, () => member);
      setRefusal({ member, failure: toFailure(error) });
    },
    onSettled: refresh,
  });
  return { change: mutate, refusal, forget: () => setRefusal(undefined) };
}
