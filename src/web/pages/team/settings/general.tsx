import { Button, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { useCallForm } from '../../../components/call-form.ts';
import { getTeamName } from '../../../components/display-name.ts';
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
import { Name } from '../../../components/name.tsx';

const words = settingsTexts.general;

/** The name, the description and the picture. A picture is saved when it is chosen. */
export function General() {
  const { team, can } = useTeam();
  const changed = useTeamChanged();
  const refresh = useTeamRefresh();
  const form = useCallForm({
    initialValues: { name: team.name, description: team.description ?? '' },
    call: ({ name, description }) => save(team, { name: name.trim(), description: orNull(description) }),
    onSuccess: (output) => changed(output, words.saved),
    onError: () => void refresh(),
  });
  return (
    <Section title={words.title} explanation={words.explanation}>
      {/* Also shown when the settings are read-only, because the error may be the reason. */}
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
          <TeamPicture name={team.name} src={team.avatarUrl} seed={team.id} size={64} />
        </PictureField>
      )}
      {can('edit_team_settings') ? (
        <form onSubmit={form.submit} noValidate>
          <Stack gap="md">
            <TextInput {...form.field('name')} label={words.name} autoComplete="off" required />
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
      <dt>{words.name}</dt>
      <dd>{getTeamName(team)}</dd>
    </div>
    <div>
      <dt>{words.description}</dt>
      <dd>
        <Name>{orNull(team.description ?? '') ?? settingsTexts.nothing}</Name>
      </dd>
    </div>
  </dl>
);

const orNull = (value: string): string | null => (value.trim() === '' ? null : value);

/** Sends what has changed. The service accepts a name of blanks, but it would not be visible. */
const save = async (team: Team, { name, description }: Pick<Team, 'name' | 'description'>): Promise<Team> => {
  const change = {
    ...(name !== team.name && { name }),
    ...(description !== team.description && { description }),
  };
  return Object.keys(change).length === 0 ? team : trpc.teams.updateDetails.mutate({ teamId: team.id, ...change });
};
