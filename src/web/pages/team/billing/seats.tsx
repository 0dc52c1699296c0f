import { Progress, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { Placeholder } from '../../../components/page.tsx';
import { Section } from '../../../components/section.tsx';
import { billingTexts } from '../../../messages/billing.ts';
import { toFailure, query, type Outputs } from '../../../trpc.ts';
import './billing.css';

const words = billingTexts.seats;

export function Seats({ teamId }: { readonly teamId: string }) {
  const seats = useQuery(query('teams.seats', { teamId }));
  return (
    <Section title={words.title} explanation={words.explanation}>
      {seats.error !== null && <FailureAlert failure={toFailure(seats.error)} retry={() => void seats.refetch()} />}
      {seats.isPending && <Placeholder rows={1} height={72} />}
      {seats.data !== undefined && <SeatsBar {...seats.data} />}
    </Section>
  );
}

const SeatsBar = ({ taken, seats }: Outputs['teams']['seats']) => (
  <div className="billing-seats">
    <Text fw={600}>{words.taken({ taken, seats })}</Text>
    <Progress.Root size="lg">
      <Progress.Section
        value={Math.min(100, (taken / seats) * 100)}
        color={taken >= seats ? 'red' : 'brand'}
        aria-label={words.bar}
      />
    </Progress.Root>
    <Text size="sm" c="dimmed">
      {taken < seats ? words.free(seats - taken) : taken === seats ? words.full : words.over(taken - seats)}
    </Text>
  </div>
);
