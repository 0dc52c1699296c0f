import { Button, Group, Stack, Textarea } from '@mantine/core';
import { useCallForm } from '../../../components/call-form.ts';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { PictureField } from '../../../components/picture-field.tsx';
import { TeamPicture } from '../../../components/picture.tsx';
import { Section } from '../../../components/section.tsx';
import { texts } from '../../../messages/console.ts';
import { pictureTexts } from '../../../messages/pictures.ts';
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
    initialValues: { description: team.description ?? '' },
    call: ({ description }) => trpc.teams.updateDetails.mutate({ teamId: team.id, description: orNull(description) }),
    onSuccess: (output) => changed(output, words.saved),
    onError: () => void refresh(),
  });
  return (
    <Section title={words.title} explanation={words.explanation}>
      {form.failure !== undefined && <FailureAlert failure={form.failure} />}
      {can('edit_team_settings') && (
        <PictureField
          path={`/pictures/teams/${team.id}`}
          hasPicture={team.avatarUrl !== null}
          onSet={(avatarUrl) => changed({ ...team, avatarUrl }, pictureTexts.saved)}
          remove={async () =>
            changed(await trpc.teams.updateDetails.mutate({ teamId: team.id, avatarUrl: null }), pictureTexts.removed)
          }
        >
          <TeamPicture name={team.name} src={team.avatarUrl} size={64} />
        </PictureField>
      )}
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
  </dl>
);

const orNull = (value: string): string | null => (value.trim() === '' ? null : value);
