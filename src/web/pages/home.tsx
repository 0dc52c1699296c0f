import { Alert, Badge, Button, EmptyState, Paper, Stack, Text, TextInput } from '@mantine/core';
import { DialogButtons } from '../components/dialog-buttons.tsx';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { useCallForm } from '../components/call-form.ts';
import { FailureAlert } from '../components/failure-alert.tsx';
import { People } from '../components/icons.tsx';
import { getTeamName } from '../components/display-name.ts';
import { useNotice } from '../components/notices.tsx';
import { TextLink } from '../components/links.tsx';
import { Page, Placeholder } from '../components/page.tsx';
import { TeamPicture } from '../components/picture.tsx';
import { ResendVerification } from '../components/resend-verification.tsx';
import { me } from '../session.ts';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { toFailure, query, trpc, type Outputs } from '../trpc.ts';
import { OfferedTeams } from './team/members/offered-teams.tsx';

export function Home() {
  const teams = useQuery(query('listTeams'));
  const offers = useQuery(query('teams.ownershipOffers'));
  const [creating, setCreating] = useState(false);
  const create = <Button onClick={() => setCreating(true)}>{texts.home.create}</Button>;
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
      {creating && <CreateTeam onClose={() => setCreating(false)} />}
    </Page>
  );
}

const TeamList = ({ teams }: { readonly teams: Outputs['listTeams'] }) => (
  <Paper component="ul" withBorder radius="lg" className="card-list">
    {teams.map(({ id, name, description, avatarUrl, role }) => (
      <li key={id} className="row">
        <TeamPicture name={name} src={avatarUrl} />
        <div className="row-text">
          <TextLink to="/teams/$teamId" params={{ teamId: id }} fw={600} className="wrap">
            <bdi>{getTeamName({ name })}</bdi>
          </TextLink>
          {description !== null && description !== '' && (
            <Text size="sm" c="dimmed" lineClamp={2}>
              {description}
            </Text>
          )}
        </div>
        <Badge variant="light" color={role.id === 'owner' ? 'blue' : 'gray'} tt="none" size="lg">
          <bdi>{role.name}</bdi>
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

function CreateTeam({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useCallForm({
    initialValues: { name: '', description: '' },
    call: ({ name, description }) =>
      trpc.createTeam.mutate({ name: name.trim(), ...(description === '' ? {} : { description }) }),
    onSuccess: ({ name }) => {
      notify(texts.home.created(name));
      onClose();
      return queries.invalidateQueries(query('listTeams'));
    },
  });
  return (
    <Dialog onClose={onClose} title={texts.home.createTitle}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <TextInput {...form.field('name')} label={texts.home.name} autoComplete="off" required data-autofocus />
          <TextInput {...form.field('description')} label={texts.optional(texts.home.description)} autoComplete="off" />
          <DialogButtons onCancel={onClose}>
            <Button type="submit" loading={form.pending}>
              {texts.home.submit}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  );
}
