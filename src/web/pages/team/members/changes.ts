import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNotice } from '../../../components/notices.tsx';
import { failureOf, type Failure } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam } from '../team.ts';
import { membersOf, type Member } from './member.ts';

export type MemberChange = {
  readonly member: Member;
  /** What is shown before the service has answered. */
  readonly now: Partial<Member>;
  readonly call: () => Promise<unknown>;
  readonly notice: string;
};

/** Makes a call, and reads the team again whatever became of it: a refusal tells that the page was out of date. */
export function useTeamCall() {
  const refresh = useTeamRefresh();
  return <Output>(call: Promise<Output>): Promise<Output> => call.finally(() => void refresh());
}

/** Changes a row of the list at once, and back where the service refuses. */
export function useMemberChanges() {
  const queries = useQueryClient();
  const notify = useNotice();
  const refresh = useTeamRefresh();
  const { team } = useTeam();
  const [refusal, setRefusal] = useState<{ member: Member; failure: Failure }>();
  const { queryKey } = membersOf(team.id);

  const show = (userId: string, change: (member: Member) => Member) =>
    queries.setQueryData(queryKey, (members) =>
      members?.map((member) => (member.userId === userId ? change(member) : member)),
    );

  const { mutate } = useMutation({
    mutationFn: ({ call }: MemberChange) => call(),
    onMutate: async ({ member: { userId }, now }) => {
      setRefusal(undefined);
      // A list on its way would show the row as it was.
      await queries.cancelQueries({ queryKey });
      show(userId, (member) => ({ ...member, ...now }));
    },
    onSuccess: (_output, { notice }) => notify(notice),
    // Only this row: another may be changing at the same time.
    onError: (error, { member }) => {
      show(member.userId, () => member);
      setRefusal({ member, failure: failureOf(error) });
    },
    onSettled: refresh,
  });
  return { change: mutate, refusal, forget: () => setRefusal(undefined) };
}
