import { Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Confirmation } from '../../../parts/confirmation.tsx';
import { TextLink } from '../../../parts/links.tsx';
import { useNotice } from '../../../parts/notices.tsx';
import { Section } from '../../../parts/section.tsx';
import { membersTexts } from '../../../texts/members.ts';
import { trpc } from '../../../trpc.ts';
import { useTeam } from '../team.ts';
import { isAbout } from './changes.ts';

const words = membersTexts.leave;

export function Leave() {
  const { team } = useTeam();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotice();
  const [asking, setAsking] = useState(false);

  async function goHome() {
    await navigate({ to: '/' });
    // Not before: this page would ask again for a team that is not there for the reader any more.
    queries.removeQueries({ predicate: ({ queryKey }) => isAbout(queryKey[1], team.id) });
    void queries.invalidateQueries();
    notify(words.left(team.name));
  }
  return (
    <Section title={words.title} explanation={words.explanation}>
      {team.role.id === 'owner' ? (
        <Text size="sm">
          {words.owner}{' '}
          <TextLink to="/teams/$teamId/settings" params={{ teamId: team.id }}>
            {words.ownerLink}
          </TextLink>
          .
        </Text>
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
          onSuccess={() => void goHome()}
          onClose={() => setAsking(false)}
        />
      )}
    </Section>
  );
}
