import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useDates } from '../../../components/dates.ts';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { Section } from '../../../components/section.tsx';
import { membersTexts } from '../../../messages/members.ts';
import { toFailure, query, trpc } from '../../../trpc.ts';
import { useTeam } from '../team.ts';
import { useTeamCall } from './changes.ts';
import { getMemberName } from './member.ts';
import { useSubmission } from '../../../components/submission.ts';

const words = membersTexts.ownership;

/** The owner’s offer of the team, until it is accepted or withdrawn. Errors remain visible. */
export function PendingOffer() {
  const { team } = useTeam();
  const { day } = useDates();
  const notify = useNotice();
  const teamCall = useTeamCall();
  const offer = useQuery(query('teams.ownershipOffer', { teamId: team.id }));
  const withdrawal = useSubmission({
    isRepeatable: true,
    mutationFn: () => teamCall(trpc.teams.withdrawOwnershipOffer.mutate({ teamId: team.id })),
    onSuccess: () => notify(words.withdrawn),
  });
  return (
    <>
      {offer.error !== null && <FailureAlert failure={toFailure(offer.error)} retry={() => void offer.refetch()} />}
      {withdrawal.error !== null && <FailureAlert failure={toFailure(withdrawal.error)} />}
      {offer.data && (
        <Section title={words.title}>
          <div>
            <Text>{words.pending({ member: getMemberName(offer.data.nominee), date: day(offer.data.expiresAt) })}</Text>
            <Text size="sm" c="dimmed">
              {words.pendingHint}
            </Text>
          </div>
          <Group>
            <Button variant="default" loading={withdrawal.isPending} onClick={() => withdrawal.submit()}>
              {words.withdraw}
            </Button>
          </Group>
        </Section>
      )}
    </>
  );
}

/** How the owner offers the team. `canOffer` is false if there is no other active member. */
export function OwnershipHint({ canOffer }: { readonly canOffer: boolean }) {
  const { team } = useTeam();
  const { data: offer } = useQuery(query('teams.ownershipOffer', { teamId: team.id }));
  if (offer !== null) return null;
  return (
    <Section title={words.title} explanation={words.explanation}>
      <Text size="sm">{canOffer ? words.none : words.alone}</Text>
    </Section>
  );
}
