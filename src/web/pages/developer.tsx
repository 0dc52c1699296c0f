import { Button, EmptyState, Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FailureAlert } from '../components/failure-alert.tsx';
import { App } from '../components/icons.tsx';
import { Page, Placeholder } from '../components/page.tsx';
import { developerTexts as words } from '../messages/oauth.ts';
import { toFailure, query } from '../trpc.ts';
import { ClientRow } from './developer/client-row.tsx';
import { CreateClient } from './developer/create-client.tsx';
import { Endpoints } from './developer/endpoints.tsx';
import { useKept } from '../kept.ts';

/** The OAuth clients of the user, and the endpoints for developing one. */
export function DeveloperPage() {
  const clients = useQuery(query('oauthClients.list'));
  const [creating, setCreating] = useKept('creating', false);
  const create = <Button onClick={() => setCreating(true)}>{words.create}</Button>;
  return (
    <Page
      title={words.title}
      explanation={words.explanation}
      action={clients.data !== undefined && clients.data.length > 0 && create}
    >
      {clients.error !== null && (
        <FailureAlert failure={toFailure(clients.error)} retry={() => void clients.refetch()} />
      )}
      {clients.isPending && <Placeholder rows={2} height={96} />}
      {clients.data?.length === 0 && (
        <Paper withBorder radius="lg" className="empty">
          <EmptyState variant="light" icon={<App size={28} />} title={words.emptyTitle} description={words.empty}>
            <EmptyState.Actions>{create}</EmptyState.Actions>
          </EmptyState>
        </Paper>
      )}
      {clients.data !== undefined && clients.data.length > 0 && (
        <Paper component="ul" withBorder radius="lg" className="card-list">
          {clients.data.map((client) => (
            <ClientRow key={client.id} client={client} />
          ))}
        </Paper>
      )}
      {!clients.isPending && <Endpoints />}
      {creating && <CreateClient onClose={() => setCreating(false)} />}
    </Page>
  );
}
