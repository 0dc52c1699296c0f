import { Alert, Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Confirmation } from '../../../components/confirmation.tsx';
import { useDates } from '../../../components/dates.ts';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { membersTexts } from '../../../messages/members.ts';
import { toFailure, trpc, type Outputs } from '../../../trpc.ts';
import { useSubmission } from '../../../components/submission.ts';
import { useKept } from '../../../kept.ts';

type OfferedTeam = Outputs['teams']['ownershipOffers'][number];

const words = membersTexts.ownership;

/** The teams whose ownership is offered to the user. Stays mounted without offers, so that errors remain visible. */
export function OfferedTeams({ offers }: { readonly offers: readonly OfferedTeam[] }) {
  const { day } = useDates();
  const queries = useQueryClient();
  const notify = useNotice();
  const [accepting, setAccepting] = useKept<OfferedTeam | undefined>('accepting', undefined);
  // Ownership changes role, permissions and the list of teams, so everything is reloaded.
  const afterwards = (call: Promise<unknown>) => call.finally(() => void queries.invalidateQueries());
  const decline = useSubmission({
    isRepeatable: true,
    mutationFn: ({ teamId }: OfferedTeam) => afterwards(trpc.teams.declineOwnership.mutate({ teamId })),
    onSuccess: (_output, { teamName }) => notify(words.declined(teamName)),
  });
  return (
    <>
      {decline.error !== null && <FailureAlert failure={toFailure(decline.error)} />}
      {offers.map((offer) => (
        <Alert key={offer.teamId} color="blue" title={words.offeredTitle(offer.teamName)}>
          <Text size="sm">{words.offeredText(day(offer.expiresAt))}</Text>
          <Group gap="sm" mt="sm">
            <Button size="sm" onClick={() => setAccepting(offer)} aria-label={words.acceptOf(offer.teamName)}>
              {words.accept}
            </Button>
            <Button
              size="sm"
              variant="default"
              loading={decline.isPending && decline.variables.teamId === offer.teamId}
              onClick={() => decline.submit(offer)}
              aria-label={words.declineOf(offer.teamName)}
            >
              {words.decline}
            </Button>
          </Group>
        </Alert>
      ))}
      {accepting !== undefined && (
        <Confirmation
          title={words.acceptTitle(accepting.teamName)}
          explanation={words.acceptExplanation}
          submit={words.acceptSubmit}
          color="brand"
          call={() => afterwards(trpc.teams.acceptOwnership.mutate({ teamId: accepting.teamId }))}
          onSuccess={() => {
            setAccepting(undefined);
            notify(words.accepted(accepting.teamName));
          }}
          onClose={() => setAccepting(undefined)}
        />
      )}
    </>
  );
}
