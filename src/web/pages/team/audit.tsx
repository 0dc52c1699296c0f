import { Alert, Button, EmptyState, Group, NativeSelect, Paper } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Page, Placeholder } from '../../components/page.tsx';
import { auditTexts as words } from '../../messages/audit.ts';
import { toFailure, query, type Outputs } from '../../trpc.ts';
import { download, type Format } from './audit/download.ts';
import { EventRow } from './audit/event-row.tsx';
import { useTeam } from './team.ts';
import { useSubmission } from '../../components/submission.ts';

const FORMATS = ['ndjson', 'csv'] as const;

type Kind = Exclude<keyof typeof words.kinds, ''>;

/** The audit log of the team, fifty events per page, of all kinds or one. */
export function AuditPage() {
  const { can } = useTeam();
  if (!can('edit_team_settings')) {
    return (
      <Page title={words.title}>
        <Alert color="gray" title={words.notAllowedTitle}>
          {words.notAllowed}
        </Alert>
      </Page>
    );
  }
  return <AuditLog />;
}

function AuditLog() {
  const { team } = useTeam();
  const [kind, setKind] = useState<Kind>();
  // Cursors of the current page and the pages before it. The first page has none.
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const page = useQuery({
    ...query('audit.list', { teamId: team.id, ...(kind && { kind }), ...(cursor && { cursor }) }),
    placeholderData: keepPreviousData,
  });
  const save = useSubmission({
    isRepeatable: true,
    mutationFn: (format: Format) => download({ teamId: team.id, ...(kind && { kind }) }, format),
  });
  const choose = (value: string) => {
    setKind(value === '' ? undefined : (value as Kind)); // the value of an option below
    setCursors([]);
  };
  const next = page.data?.nextCursor ?? null;
  return (
    <Page title={words.title} explanation={words.explanation}>
      <Group justify="space-between" align="end">
        <NativeSelect
          label={words.filter}
          value={kind ?? ''}
          onChange={(event) => choose(event.currentTarget.value)}
          data={Object.entries(words.kinds).map(([value, label]) => ({ value, label }))}
        />
        <Group gap="xs">
          {FORMATS.map((format) => (
            <Button
              key={format}
              variant="default"
              loading={save.isPending && save.variables === format}
              onClick={() => save.submit(format)}
            >
              {words.download[format]}
            </Button>
          ))}
        </Group>
      </Group>
      {save.error !== null && <FailureAlert failure={toFailure(save.error)} onClose={save.reset} />}
      {page.error !== null && <FailureAlert failure={toFailure(page.error)} retry={() => void page.refetch()} />}
      {page.data === undefined ? (
        page.error === null && <Placeholder rows={6} />
      ) : (
        <Events {...page.data} kind={kind} />
      )}
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
    </Page>
  );
}

type EventsProps = Pick<Outputs['audit']['list'], 'events'> & { readonly kind: Kind | undefined };

const Events = ({ events, kind }: EventsProps) =>
  events.length > 0 ? (
    <Paper component="ul" withBorder radius="lg" className="card-list" aria-label={words.list}>
      {events.map((event) => (
        <EventRow key={event.id} event={event} />
      ))}
    </Paper>
  ) : (
    <Paper withBorder radius="lg" className="empty">
      <EmptyState
        variant="light"
        title={kind === undefined ? words.emptyTitle : words.noneTitle}
        description={kind === undefined ? words.empty : words.none}
      />
    </Paper>
  );
