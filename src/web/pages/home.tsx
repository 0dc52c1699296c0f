import { Alert, Badge, Button, EmptyState, Paper, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FailureAlert } from '../components/failure-alert.tsx';
import { People } from '../components/icons.tsx';
import { getTeamName } from '../components/display-name.ts';
import { useFrameDialogs } from '../frame/frame-context.ts';
import { TextLink } from '../components/links.tsx';
import { Page, Placeholder } from '../components/page.tsx';
import { TeamPicture } from '../components/picture.tsx';
import { ResendVerification } from '../components/resend-verification.tsx';
import { me } from '../session.ts';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { toFailure, query, type Outputs } from '../trpc.ts';
import { OfferedTeams } from './team/members/offered-teams.tsx';
import { getRoleLabel } from '../components/role-label.ts';

export function Home() {
  const teams = useQuery(query('listTeams'));
  const offers = useQuery(query('teams.ownershipOffers'));
  const openDialog = useFrameDialogs();
  const create = <Button onClick={() => openDialog('createTeam')}>{texts.home.create}</Button>;
  return (
    <Page title={texts.home.title} action={teams.data !== undefined && teams.data.length > 0 && create}>
      <UnverifiedNotice />
      <OfferedTeams offers={offers.data ?? []} />
      {teams.error !== null && <FailureAlert failure={toFailure(teams.error)} retry={() => void teams.refetch()} />}
      {teams.isPending && <Placeholder rows={3} height={72} />}
      {teams.data?.length === 0 && (
        <Paper withBorder radius="lg" className="empty">
          <EmptyState variant="light" icon={<People />} title={texts.home.emptyTitle} description={texts.home.empty}>
            <EmptyState.Actions>{create}</EmptyState.Actions>
          </EmptyState>
        </Paper>
      )}
      {teams.data !== undefined && teams.data.length > 0 && <TeamList teams={teams.data} />}
    </Page>
  );
}

const TeamList = ({ teams }: { readonly teams: Outputs['listTeams'] }) => (
  <Paper component="ul" withBorder radius="lg" className="card-list">
    {teams.map(({ id, slug, name, description, avatarUrl, role }) => (
      <li key={id} className="row">
        <TeamPicture name={name} src={avatarUrl} seed={id} />
        <div className="row-text">
          <TextLink to="/teams/$teamId" params={{ teamId: slug }} fw={600} className="wrap">
            <bdi>{getTeamName({ name })}</bdi>
          </TextLink>
          {description !== null && description !== '' && (
            <Text size="sm" c="dimmed" lineClamp={2}>
              {description}
            </Text>
          )}
        </div>
        <Badge variant="light" color={role.id === 'owner' ? 'brand' : 'gray'} tt="none" size="lg">
          <bdi>{getRoleLabel(role.name)}</bdi>
        </Badge>
      </li>
    ))}
  </Paper>
);

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
