import { Button, EmptyState, Group, NativeSelect, Paper } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Page, Placeholder } from '../../components/page.tsx';
import { endpointsQuery } from '../../page-queries.ts';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { query, toFailure } from '../../trpc.ts';
import { DeliveryRow } from './delivery-row.tsx';
import type { Delivery, TeamId } from './endpoints.ts';
import { ReplayFailed } from './replay-failed.tsx';
import { Name } from '../../components/name.tsx';
import './webhooks.css';

const INTERVAL_MS = 5000;

type DeliveriesPageProps = { readonly teamId: TeamId; readonly endpointId: string; readonly back: ReactNode };

/** The deliveries of an endpoint, twenty per page, in all states or one. The first page is updated by itself. */
export function DeliveriesPage({ teamId, endpointId, back }: DeliveriesPageProps) {
  const [state, setState] = useState<Delivery['state']>();
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [replaying, setReplaying] = useState(false);
  const cursor = cursors.at(-1);
  const endpoint = useQuery(endpointsQuery(teamId)).data?.find((each) => each.endpointId === endpointId);
  const page = useQuery({
    ...query('webhooks.deliveries', { teamId, endpointId, ...(state && { state }), ...(cursor && { cursor }) }),
    placeholderData: keepPreviousData,
    refetchInterval: cursor === undefined ? INTERVAL_MS : false,
  });
  const choose = (value: string) => {
    setState(value === '' ? undefined : (value as Delivery['state'])); // the value of an option below
    setCursors([]);
  };
  const next = page.data?.nextCursor ?? null;
  return (
    <Page
      title={words.deliveries}
      explanation={endpoint === undefined ? words.deliveriesExplanation : <Name>{endpoint.url}</Name>}
    >
      <div>{back}</div>
      <Group justify="space-between" align="end">
        <NativeSelect
          label={words.show}
          value={state ?? ''}
          onChange={(event) => choose(event.currentTarget.value)}
          data={[
            { value: '', label: words.anyState },
            ...Object.entries(words.states).map(([value, label]) => ({ value, label })),
          ]}
        />
        <Button variant="default" onClick={() => setReplaying(true)}>
          {words.replayFailed}
        </Button>
      </Group>
      {page.error !== null && <FailureAlert failure={toFailure(page.error)} retry={() => void page.refetch()} />}
      {page.data === undefined
        ? page.error === null && <Placeholder rows={4} />
        : list(page.data.deliveries, teamId, endpointId)}
      {(cursors.length > 0 || next !== null) && (
        <Group component="nav" aria-label={words.pages} justify="space-between">
          <Button variant="default" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
            {words.newer}
          </Button>
          <Button
            variant="default"
            disabled={next === null}
            loading={page.isPlaceholderData}
            onClick={() => next !== null && setCursors([...cursors, next])}
          >
            {words.older}
          </Button>
        </Group>
      )}
      {replaying && <ReplayFailed teamId={teamId} endpointId={endpointId} onClose={() => setReplaying(false)} />}
    </Page>
  );
}

const list = (deliveries: readonly Delivery[], teamId: TeamId, endpointId: string) =>
  deliveries.length > 0 ? (
    <Paper component="ul" withBorder radius="lg" className="card-list" aria-label={words.deliveries}>
      {deliveries.map((delivery) => (
        <DeliveryRow key={delivery.deliveryId} teamId={teamId} endpointId={endpointId} delivery={delivery} />
      ))}
    </Paper>
  ) : (
    <Paper withBorder radius="lg" className="empty">
      <EmptyState variant="light" title={words.noneTitle} description={words.none} />
    </Paper>
  );
