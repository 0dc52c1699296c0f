import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Page, Placeholder } from '../../components/page.tsx';
import { membersQuery } from '../../page-queries.ts';
import { me } from '../../session.ts';
import { membersTexts as words } from '../../messages/members.ts';
import { toFailure, query } from '../../trpc.ts';
import { InviteDialog } from './invitations/invite-dialog.tsx';
import { OfferedTeams } from './members/offered-teams.tsx';
import { OwnershipHint, PendingOffer } from './members/ownership.tsx';
import { TeamMembers } from './members/team-members.tsx';
import { useTeam } from './team.ts';
import './members.css';
import { useKept } from '../../kept.ts';

/** The members of the team, with the actions that the user can take. */
export function MembersPage() {
  const page = useTeam();
  const { team } = page;
  const [isInviting, setInviting] = useKept('inviting', false);
  const isOwner = team.role.id === 'owner';
  const members = useQuery(membersQuery(team.id));
  const invite = page.can('invite_members') && <Button onClick={() => setInviting(true)}>{words.invite}</Button>;
  return (
    <Page isWide title={words.title} explanation={words.explanation} action={invite}>
      <OfferToReader />
      {isOwner && <PendingOffer />}
      {members.error !== null && (
        <FailureAlert failure={toFailure(members.error)} retry={() => void members.refetch()} />
      )}
      {members.isPending && <Placeholder rows={4} height={60} />}
      {members.data !== undefined && <TeamMembers members={members.data} />}
      {members.data?.length === 1 && page.can('invite_members') && <Text c="dimmed">{words.alone}</Text>}
      {isOwner && !members.isPending && (
        <OwnershipHint
          canOffer={members.data?.some(({ isActive, roleId }) => isActive && roleId !== 'owner') ?? true}
        />
      )}
      {isInviting && <InviteDialog email="" onClose={() => setInviting(false)} />}
    </Page>
  );
}

function OfferToReader() {
  const { team } = useTeam();
  const { data: person } = useQuery(me());
  const { data: offer } = useQuery(query('teams.ownershipOffer', { teamId: team.id }));
  const isForReader = offer && offer.nominee.accountId === person?.id;
  return (
    <OfferedTeams offers={isForReader ? [{ teamId: team.id, teamName: team.name, expiresAt: offer.expiresAt }] : []} />
  );
}
