import { Button, Group } from '@mantine/core';
import { Section } from '../../../components/section.tsx';
import { settingsTexts } from '../../../messages/settings.ts';
import { useTeam } from '../team.ts';
import { DeleteTeam } from './delete-team.tsx';
import { useKept } from '../../../kept.ts';

const words = settingsTexts.deletion;

export function Deletion() {
  const { team } = useTeam();
  const [asking, setAsking] = useKept('deleting', false);
  // Keeps the dialog open with its error, if the user just lost ownership.
  if (team.role.id !== 'owner' && !asking) return null;
  return (
    <Section title={words.title} explanation={words.explanation}>
      <Group>
        <Button variant="outline" color="red" onClick={() => setAsking(true)}>
          {words.open}
        </Button>
      </Group>
      {asking && <DeleteTeam onClose={() => setAsking(false)} />}
    </Section>
  );
}
