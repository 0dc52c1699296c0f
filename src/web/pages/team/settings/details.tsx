import { Button, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { useCallForm } from '../../../components/call-form.ts';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { Section } from '../../../components/section.tsx';
import { texts } from '../../../messages/console.ts';
import { settingsTexts } from '../../../messages/settings.ts';
import { trpc } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam, type Team } from '../team.ts';
import { useTeamChanged } from './changes.ts';

const words = settingsTexts.details;

export function Details() {
  const { team, can } = useTeam();
  const changed = useTeamChanged();
  const refresh = useTeamRefresh();
  const form = useCallForm({
    initialValues: { description: team.description ?? '', avatarUrl: team.avatarUrl ?? '' },
    call: ({ description, avatarUrl }) =>
      trpc.teams.updateDetails.mutate({
        teamId: team.id,
        description: orNull(description),
        avatarUrl: orNull(avatarUrl),
      }),
    onSuccess: (output) => changed(output, words.saved),
    onError: () => void refresh(),
    faults: { avatarUrl: { invalid_format: words.pictureFault } },
  });
  return (
    <Section title={words.title} explanation={words.explanation}>
      {form.failure !== undefined && <FailureAlert failure={form.failure} />}
      {can('edit_team_settings') ? (
        <form onSubmit={form.submit} noValidate>
          <Stack gap="md">
            <Textarea
              {...form.field('description')}
              label={texts.optional(words.description)}
              autoComplete="off"
              size="md"
              rows={3}
            />
            <TextInput
              {...form.field('avatarUrl')}
              label={texts.optional(words.picture)}
              description={words.pictureHint}
              type="url"
              placeholder="https://"
              autoComplete="off"
            />
            <Group>
              <Button type="submit" loading={form.pending}>
                {texts.save}
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <ReadDetails team={team} />
      )}
    </Section>
  );
}

const ReadDetails = ({ team }: { readonly team: Team }) => (
  <dl className="values">
    <div>
      <dt>{words.description}</dt>
      <dd>{orNull(team.description ?? '') ?? settingsTexts.nothing}</dd>
    </div>
    <div>
      <dt>{words.picture}</dt>
      <dd>{team.avatarUrl ?? settingsTexts.nothing}</dd>
    </div>
  </dl>
);

const orNull = (value: string): string | null => (value.trim() === '' ? null : value);
