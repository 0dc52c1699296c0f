import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useCallForm } from '../../../components/call-form.ts';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { Section } from '../../../components/section.tsx';
import { texts } from '../../../messages/console.ts';
import { settingsTexts } from '../../../messages/settings.ts';
import { trpc } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam } from '../team.ts';
import { useTeamChanged } from './changes.ts';

const words = settingsTexts.name;

export function Name() {
  const { team, can } = useTeam();
  const changed = useTeamChanged();
  const refresh = useTeamRefresh();
  const form = useCallForm({
    initialValues: { name: team.name },
    // The service accepts blanks, but they would not be visible.
    call: ({ name }) => trpc.updateTeam.mutate({ teamId: team.id, name: name.trim() }),
    onSuccess: (output) => changed(output, words.saved),
    onError: () => void refresh(),
  });
  return (
    <Section title={words.title} explanation={words.explanation}>
      {/* Also shown when the name is read-only, because the error may be the reason. */}
      {form.failure !== undefined && <FailureAlert failure={form.failure} />}
      {can('edit_team_settings') ? (
        <form onSubmit={form.submit} noValidate>
          <Stack gap="md">
            <TextInput {...form.field('name')} label={words.label} autoComplete="off" required />
            <Group>
              <Button type="submit" loading={form.pending}>
                {texts.save}
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <Text className="wrap">{team.name}</Text>
      )}
    </Section>
  );
}
