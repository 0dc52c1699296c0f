import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNotice } from '../../../components/notices.tsx';
import { toFailure, type Failure } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam } from '../team.ts';
import { membersQuery, type Member } from './member.ts';

export type MemberChange = {
  readonly member: Member;
  /** The new value, shown once the service has confirmed it. */
  readonly now: Partial<Member>;
  readonly call: () => Promise<unknown>;
  readonly notice: string;
};

/** Calls the service and then reloads the team, also after an error, which can mean that the page was out of date. */
export function useTeamCall() {
  const refresh = useTeamRefresh();
  return <Output>(call: Promise<Output>): Promise<Output> => call.finally(() => void refresh());
}

/** Changes a row of the list once the service has confirmed it. Meanwhile the row is marked. */
export function useMemberChanges() {
  const queries = useQueryClient();
  const notify = useNotice();
  const refresh = useTeamRefresh();
  const { team } = useTeam();
  const [saving, setSaving] = useState<ReadonlySet<string>>(new Set());
  const [refusal, setRefusal] = useState<{ member: Member; failure: Failure }>();
  const { queryKey } = membersQuery(team.id);

  const mark = (userId: string, isSaving: boolean) =>
    setSaving((current) => {
      const next = new Set(current);
      if (isSaving) next.add(userId);
      else next.delete(userId);
      return next;
    });

  const { mutate } = useMutation({
    mutationFn: ({ call }: MemberChange) => call(),
    onMutate: ({ member: { userId } }) => {
      setRefusal(undefined);
      mark(userId, true);
    },
    onSuccess: async (_output, { member: { userId }, now, notice }) => {
      // A running query would overwrite the row with its old value.
      await queries.cancelQueries({ queryKey });
      queries.setQueryData(queryKey, (members) =>
        members?.map((member) => (member.userId === userId ? { ...member, ...now } : member)),
      );
      notify(notice);
    },
    onError: (error, { member }) => setRefusal({ member, failure: toFailure(error) }),
    onSettled: (_output, _error, { member: { userId } }) => {
      mark(userId, false);
      void refresh();
    },
  });
  return { change: mutate, saving, refusal, forget: () => setRefusal(undefined) };
}
