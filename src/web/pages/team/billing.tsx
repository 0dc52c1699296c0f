import { Alert, Text } from '@mantine/core';
import { usePrefetchQuery, useQuery } from '@tanstack/react-query';
import { useDates } from '../../components/dates.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Page, Placeholder } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { billingTexts as words } from '../../messages/billing.ts';
import { toFailure, query } from '../../trpc.ts';
import { Plan } from './billing/plan.tsx';
import { Seats } from './billing/seats.tsx';
import { useTeam } from './team.ts';

/** The team’s plan, read-only. */
export function BillingPage() {
  const { team } = useTeam();
  const billing = useQuery(query('getTeamBilling', { teamId: team.id }));
  usePrefetchQuery(query('teams.seats', { teamId: team.id }));
  const { day } = useDates();
  return (
    <Page title={words.title}>
      {billing.error !== null && (
        <FailureAlert failure={toFailure(billing.error)} retry={() => void billing.refetch()} />
      )}
      {billing.data?.needsPaymentAction === true && (
        <Alert color="red" title={words.paymentTitle}>
          {words.payment}
        </Alert>
      )}
      {billing.data?.cancelAtPeriodEnd === true && billing.data.status !== 'canceled' && (
        <Alert color="yellow" title={words.cancelTitle}>
          {billing.data.planExpiresAt === null ? words.cancel : words.cancelOn(day(billing.data.planExpiresAt))}
        </Alert>
      )}
      {billing.error === null && (
        <Section title={words.plan.title} explanation={words.plan.explanation}>
          {billing.data === undefined ? <Placeholder rows={2} /> : <Plan billing={billing.data} />}
          {billing.data?.status === null && <Text size="sm">{words.plan.noSubscription}</Text>}
        </Section>
      )}
      {/* Below the plan, so it waits for it: nothing moves while the page loads. */}
      {!billing.isPending && <Seats teamId={team.id} />}
    </Page>
  );
}
