import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { Confirmation } from '../../../components/confirmation.tsx';
import { Section } from '../../../components/section.tsx';
import { settingsTexts } from '../../../messages/settings.ts';
import { trpc } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam } from '../team.ts';
import { useTeamEnded } from './changes.ts';

const words = settingsTexts.leave;

export function Leave() {
  const { team } = useTeam();
  const [asking, setAsking] = useState(false);
  const end = useTeamEnded();
  const refresh = useTeamRefresh();
  return (
    <Section title={words.title} explanation={words.explanation}>
      {team.role.id === 'owner' ? (
        <Text>{words.owner}</Text>
      ) : (
        <Group>
          <Button variant="outline" color="red" onClick={() => setAsking(true)}>
            {words.open}
          </Button>
        </Group>
      )}
      {asking && (
        <Confirmation
          title={words.confirmTitle(team.name)}
          explanation={words.confirm}
          submit={words.submit}
          call={() => trpc.teams.leave.mutate({ teamId: team.id })}
          onSuccess={() => void end(words.done(team.name))}
          onError={() => void refresh()}
          onClose={() => setAsking(false)}
        />
      )}
    </Section>
  );
}
