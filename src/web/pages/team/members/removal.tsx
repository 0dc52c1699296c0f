import { useRemoveMember } from '#client/react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirmation } from '../../../components/confirmation.tsx';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { Placeholder } from '../../../components/page.tsx';
import { membersTexts as words } from '../../../messages/members.ts';
import { toFailure, query } from '../../../trpc.ts';
import { useTeam } from '../team.ts';
import { Consequences } from './consequences.tsx';
import { getMemberName, type Member } from './member.ts';

/** Asks for confirmation before a member is removed, and lists what stops working. */
export function Removal({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const { team } = useTeam();
  const notify = useNotice();
  const remove = useRemoveMember(team.id);
  const name = getMemberName(member);
  const { accountId } = member;
  const [withInvitations, setWithInvitations] = useState(false);
  // Always reloaded, because a cached preview could be out of date.
  const preview = useQuery({
    ...query('members.removalPreview', { teamId: team.id, accountId }),
    gcTime: 0,
  });
  return (
    <Confirmation
      title={words.removeTitle(name)}
      explanation={words.removeExplanation}
      submit={words.removeSubmit}
      isReady={preview.data !== undefined}
      call={() => remove.mutateAsync({ accountId, withInvitations })}
      onSuccess={() => {
        onClose();
        notify(words.removed(name));
      }}
      onClose={onClose}
    >
      {preview.isPending && <Placeholder rows={1} height={22} />}
      {preview.error !== null && (
        <FailureAlert failure={toFailure(preview.error)} retry={() => void preview.refetch()} />
      )}
      {preview.data !== undefined && (
        <Consequences preview={preview.data} isRevoked={withInvitations} onChange={setWithInvitations} />
      )}
    </Confirmation>
  );
}
