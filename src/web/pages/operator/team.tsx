import { Progress, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Page, Placeholder } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { operatorTexts } from '../../messages/operator.ts';
import { tableTexts } from '../../messages/table.ts';
import { query, type Outputs } from '../../trpc.ts';
import { Figures } from './fact.tsx';
import { BackToSearch, isGone, Operators, Refusal, VIEW } from './operators.tsx';
import { Subscription } from './subscription.tsx';
import { TeamActions } from './team-actions.tsx';
import { TeamDetails } from './team-details.tsx';
import { getTeamName } from '../../components/display-name.ts';

const words = operatorTexts.team;
const route = getRouteApi('/console/operator/teams/$teamId');

export function OperatorTeamPage() {
  const { teamId } = route.useParams();
  return (
    <Operators>
      <BackToSearch />
      <TeamView teamId={teamId} />
    </Operators>
  );
}

function TeamView({ teamId }: { readonly teamId: string }) {
  const team = useQuery({ ...query('operator.team', { teamId }), ...VIEW });
  const shown = isGone(team.error) ? undefined : team.data;
  return (
    <Page title={shown === undefined ? words.title : getTeamName(shown)}>
      {team.error !== null && <Refusal error={team.error} retry={() => void team.refetch()} />}
      {team.isPending && <Placeholder rows={2} height={180} />}
      {shown !== undefined && (
        <>
          <TeamDetails team={shown} />
          <Section title={words.size} explanation={words.sizeHint}>
            <Figures
              of={[
                [words.members, shown.members],
                [words.invitations, shown.pendingInvitations],
              ]}
            />
            <Seats {...shown.seats} />
          </Section>
          <Subscription team={shown} reread={team.refetch} />
          <TeamActions team={shown} reread={team.refetch} />
        </>
      )}
    </Page>
  );
}

const Seats = ({ taken, total }: Outputs['operator']['team']['seats']) => (
  <div>
    <Text size="sm" mb={6}>
      {tableTexts.option({ filter: words.seats, value: words.seatsTaken({ taken, total }) })}
    </Text>
    <Progress.Root size="lg">
      <Progress.Section
        value={Math.min(100, (taken / total) * 100)}
        color={taken >= total ? 'red' : 'brand'}
        aria-label={words.seats}
      />
    </Progress.Root>
  </div>
);
