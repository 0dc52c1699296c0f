import { useRemoveMember } from '#client/react';
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Confirmation } from '../../../components/confirmation.tsx';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { Placeholder } from '../../../components/page.tsx';
import { membersTexts as words } from '../../../messages/members.ts';
import { toFailure, query, type Outputs } from '../../../trpc.ts';
import { useTeam } from '../team.ts';
import { getMemberName, type Member } from './member.ts';

/** Asks for confirmation before a member is removed, and lists what stops working. */
export function Removal({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const { team } = useTeam();
  const notify = useNotice();
  const remove = useRemoveMember(team.id);
  const name = getMemberName(member);
  const { userId } = member;
  // Always reloaded, because a cached preview could be out of date.
  const preview = useQuery({
    ...query('members.removalPreview', { teamId: team.id, userId }),
    gcTime: 0,
  });
  return (
    <Confirmation
      title={words.removeTitle(name)}
      explanation={words.removeExplanation}
      submit={words.removeSubmit}
      isReady={preview.data !== undefined}
      call={() => remove.mutateAsync({ userId })}
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
      {preview.data !== undefined && <Stopping preview={preview.data} isOwner={team.role.id === 'owner'} />}
    </Confirmation>
  );
}

type StoppingProps = { readonly preview: Outputs['members']['removalPreview']; readonly isOwner: boolean };

function Stopping({ preview: { apiKeys, oauthGrants, ownershipOffer }, isOwner }: StoppingProps) {
  if (apiKeys.length === 0 && oauthGrants === 0 && !ownershipOffer)
    return (
      <Text size="sm" c="dimmed">
        {words.removeStopsNothing}
      </Text>
    );
  return (
    <div>
      <Text size="sm" fw={600}>
        {words.removeStops}
      </Text>
      <ul className="facts wrap">
        {apiKeys.map(({ id, name, last4 }) => (
          <li key={id}>{words.removeKey({ name, last4 })}</li>
        ))}
        {oauthGrants > 0 && <li>{words.removeApplications(oauthGrants)}</li>}
        {ownershipOffer && <li>{isOwner ? words.removeOffer : words.removeOfferOfOwner}</li>}
      </ul>
    </div>
  );
}
