import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Confirmation } from '../../../components/confirmation.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { membersTexts } from '../../../messages/members.ts';
import { query, trpc } from '../../../trpc.ts';
import { useTeam } from '../team.ts';
import { useTeamCall } from './changes.ts';
import { getMemberName, type Member } from './member.ts';

const words = membersTexts.ownership;

/** Asks the owner for confirmation before ownership is offered, and lists the consequences. */
export function Offer({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const { team } = useTeam();
  const notify = useNotice();
  const teamCall = useTeamCall();
  const { data: standing } = useQuery(query('teams.ownershipOffer', { teamId: team.id }));
  const name = getMemberName(member);
  const replaced =
    standing && standing.nominee.accountId !== member.accountId ? getMemberName(standing.nominee) : undefined;
  return (
    <Confirmation
      title={words.offerTitle(name)}
      explanation={words.offerExplanation}
      submit={words.offerSubmit}
      color="brand"
      call={() => teamCall(trpc.teams.offerOwnership.mutate({ teamId: team.id, accountId: member.accountId }))}
      onSuccess={() => {
        onClose();
        notify(words.offered(name));
      }}
      onClose={onClose}
    >
      <div>
        <Text size="sm" fw={600}>
          {words.consequences}
        </Text>
        <ul className="facts wrap">
          <li>{words.becomeOwner({ member: name, team: team.name })}</li>
          <li>{words.becomeMember}</li>
          <li>{words.keepKeys}</li>
        </ul>
      </div>
      {replaced !== undefined && <Text size="sm">{words.replaces(replaced)}</Text>}
    </Confirmation>
  );
}
