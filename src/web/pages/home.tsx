import { useTeams } from '#client/react';
import { Alert, Button, EmptyState, Paper, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FailureAlert } from '../components/failure-alert.tsx';
import { People } from '../components/icon.tsx';
import { useFrameDialogs } from '../components/frame-dialogs.ts';
import { Page, Placeholder } from '../components/page.tsx';
import { noticesQuery } from '../page-queries.ts';
import { ResendVerification } from '../components/resend-verification.tsx';
import { me } from '../session.ts';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { toFailure, query } from '../trpc.ts';
import { TeamList } from './home/team-list.tsx';
import { Waiting } from './home/waiting.tsx';
import { OfferedTeams } from './team/members/offered-teams.tsx';

export function Home() {
  const teams = useTeams();
  const offers = useQuery(query('teams.ownershipOffers'));
  const notices = useQuery(noticesQuery());
  const openDialog = useFrameDialogs();
  // Together, so that nothing moves while the page loads.
  const isPending = teams.isPending || notices.isPending;
  const create = <Button onClick={() => openDialog('createTeam')}>{texts.home.create}</Button>;
  return (
    <Page isWide title={texts.home.title} action={teams.data !== undefined && teams.data.length > 0 && create}>
      <UnverifiedNotice />
      <OfferedTeams offers={offers.data ?? []} />
      {teams.error !== null && <FailureAlert failure={toFailure(teams.error)} retry={() => void teams.refetch()} />}
      {isPending && <Placeholder rows={3} height={72} />}
      {!isPending && <Waiting notices={notices.data ?? []} />}
      {!isPending && teams.data?.length === 0 && (
        <Paper withBorder radius="lg" className="empty">
          <EmptyState variant="light" icon={<People />} title={texts.home.emptyTitle} description={texts.home.empty}>
            <EmptyState.Actions>{create}</EmptyState.Actions>
          </EmptyState>
        </Paper>
      )}
      {!isPending && teams.data !== undefined && teams.data.length > 0 && <TeamList teams={teams.data} />}
    </Page>
  );
}

function UnverifiedNotice() {
  const { data: person } = useQuery(me());
  if (person === undefined || person.emailVerified !== null || person.email === null) return null;
  return (
    <Alert color="yellow" title={publicTexts.verification.unverifiedTitle}>
      <Stack gap="sm" align="flex-start">
        <Text size="sm" className="wrap">
          {publicTexts.verification.unverified(person.email)}
        </Text>
        <ResendVerification email={person.email} />
      </Stack>
    </Alert>
  );
}
