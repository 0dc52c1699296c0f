import { Button, EmptyState, Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Key as KeyIcon } from '../../components/icons.tsx';
import { Page, Placeholder } from '../../components/page.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { toFailure } from '../../trpc.ts';
import { CreateKey } from './create-key.tsx';
import { KeyRow } from './key-row.tsx';
import { keysQuery, type TeamId } from './keys.ts';
import './api-keys.css';

/** The personal keys of the user, or the keys of a team. */
export function KeysPage({ teamId }: { readonly teamId: TeamId }) {
  const keys = useQuery(keysQuery(teamId));
  const [creating, setCreating] = useState(false);
  const isOfTeam = teamId !== undefined;
  const create = <Button onClick={() => setCreating(true)}>{words.create}</Button>;
  return (
    <Page
      title={isOfTeam ? words.teamTitle : words.title}
      explanation={isOfTeam ? words.teamExplanation : words.explanation}
      action={keys.data !== undefined && keys.data.length > 0 && create}
    >
      {keys.error !== null && <FailureAlert failure={toFailure(keys.error)} retry={() => void keys.refetch()} />}
      {keys.isPending && <Placeholder rows={2} height={112} />}
      {keys.data?.length === 0 && (
        <Paper withBorder radius="lg" className="empty">
          <EmptyState
            variant="light"
            icon={<KeyIcon />}
            title={isOfTeam ? words.teamEmptyTitle : words.emptyTitle}
            description={isOfTeam ? words.teamEmpty : words.empty}
          >
            <EmptyState.Actions>{create}</EmptyState.Actions>
          </EmptyState>
        </Paper>
      )}
      {keys.data !== undefined && keys.data.length > 0 && (
        <Paper component="ul" withBorder radius="lg" className="card-list">
          {keys.data.map((key) => (
            <KeyRow key={key.id} apiKey={key} />
          ))}
        </Paper>
      )}
      {creating && <CreateKey teamId={teamId} onClose={() => setCreating(false)} />}
    </Page>
  );
}
