import { Button, EmptyState, Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { App } from '../../components/icons.tsx';
import { Page, Placeholder } from '../../components/page.tsx';
import { endpointsQuery } from '../../page-queries.ts';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { toFailure } from '../../trpc.ts';
import { CreateEndpoint } from './create-endpoint.tsx';
import { EndpointRow } from './endpoint-row.tsx';
import type { TeamId } from './endpoints.ts';
import './webhooks.css';
import { useKept } from '../../kept.ts';

/** The webhook endpoints of a team, or of the installation. */
export function WebhooksPage({ teamId }: { readonly teamId: TeamId }) {
  const endpoints = useQuery(endpointsQuery(teamId));
  const [creating, setCreating] = useKept('creating', false);
  const create = <Button onClick={() => setCreating(true)}>{words.create}</Button>;
  const { data, error } = endpoints;
  return (
    <Page
      title={teamId === null ? words.installationTitle : words.title}
      explanation={teamId === null ? words.installationExplanation : words.explanation}
      action={data !== undefined && data.length > 0 && create}
    >
      {error !== null && <FailureAlert failure={toFailure(error)} retry={() => void endpoints.refetch()} />}
      {endpoints.isPending && <Placeholder rows={2} height={112} />}
      {data?.length === 0 && (
        <Paper withBorder radius="lg" className="empty">
          <EmptyState variant="light" icon={<App size={28} />} title={words.emptyTitle} description={words.empty}>
            <EmptyState.Actions>{create}</EmptyState.Actions>
          </EmptyState>
        </Paper>
      )}
      {data !== undefined && data.length > 0 && (
        <Paper component="ul" withBorder radius="lg" className="card-list" aria-label={words.endpoints}>
          {data.map((endpoint) => (
            <EndpointRow key={endpoint.endpointId} teamId={teamId} endpoint={endpoint} />
          ))}
        </Paper>
      )}
      {creating && <CreateEndpoint teamId={teamId} onClose={() => setCreating(false)} />}
    </Page>
  );
}
