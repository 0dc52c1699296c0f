import { useChangeMember, type MemberChange } from '#client/react';
import { useState } from 'react';
import { useNotice } from '../../../components/notices.tsx';
import { toFailure, type Failure } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam } from '../team.ts';
import type { Member } from './member.ts';

export type RowChange = { readonly member: Member; readonly to: MemberChange; readonly notice: string };

/** Calls the service and then reloads the team, also after an error, which can mean that the page was out of date. */
export function useTeamCall() {
  const refresh = useTeamRefresh();
  return <Output>(call: Promise<Output>): Promise<Output> => call.finally(() => void refresh());
}

/** Changes a row of the list once the service has confirmed it. Meanwhile the row is marked. */
export function useMemberChanges() {
  const notify = useNotice();
  const { team } = useTeam();
  const { mutateAsync } = useChangeMember(team.id);
  const [saving, setSaving] = useState<ReadonlySet<string>>(new Set());
  const [refusal, setRefusal] = useState<{ member: Member; failure: Failure }>();

  const mark = (accountId: string, isSaving: boolean) =>
    setSaving((current) => {
      const next = new Set(current);
      if (isSaving) next.add(accountId);
      else next.delete(accountId);
      return next;
    });

  async function change({ member, to, notice }: RowChange): Promise<void> {
    const { accountId } = member;
    setRefusal(undefined);
    mark(accountId, true);
    try {
      await mutateAsync({ accountId, ...to });
      notify(notice);
    } catch (error) {
      setRefusal({ member, failure: toFailure(error) });
    }
    mark(accountId, false);
  }
  return { change, saving, refusal, forget: () => setRefusal(undefined) };
}
