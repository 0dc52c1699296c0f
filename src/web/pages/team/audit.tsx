import { Button, EmptyState, Group } from '@mantine/core';
import { useState } from 'react';
import { useDates } from '../../components/dates.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Page, Placeholder } from '../../components/page.tsx';
import { auditTexts as words } from '../../messages/audit.ts';
import { toFailure } from '../../trpc.ts';
import { DataTable } from '../../components/table/data-table.tsx';
import { auditColumns } from './audit/columns.tsx';
import { download, type Format } from './audit/download.ts';
import { describeEvent } from './audit/event-cell.tsx';
import type { AuditEvent } from './audit/event.ts';
import { FilterBar } from './audit/filter-bar.tsx';
import { useAuditFilter, type AuditFilter } from './audit/filter.ts';
import { useLiveEvents } from './audit/live.ts';
import { useTeam } from './team.ts';
import { useSubmission } from '../../components/submission.ts';

const FORMATS = ['ndjson', 'csv'] as const;

const rowId = ({ id }: AuditEvent): string => id;

/** The audit log of the team, fifty events per page. */
export function AuditPage() {
  const { team } = useTeam();
  const { day } = useDates();
  const { search, filter, order, change } = useAuditFilter();
  const filterKey = JSON.stringify([filter, order]);
  // Cursors of the current page and the pages before it, for one filter. The first page has none.
  const [pages, setPages] = useState<{ key: string; cursors: readonly string[] }>({ key: filterKey, cursors: [] });
  const cursors = pages.key === filterKey ? pages.cursors : [];
  const setCursors = (next: readonly string[]) => setPages({ key: filterKey, cursors: next });
  const { page, data, newCount, showNew } = useLiveEvents({ teamId: team.id, ...filter, order }, cursors.at(-1));
  const save = useSubmission({
    isRepeatable: true,
    mutationFn: (format: Format) => download({ teamId: team.id, ...filter, order }, format),
  });
  const next = data?.nextCursor ?? null;
  return (
    <Page isWide title={words.title} explanation={words.explanation}>
      <FilterBar
        search={search}
        onChange={change}
        personName={data?.events.find(({ actor }) => actor?.accountId === search.person)?.actor?.name ?? undefined}
        keyName={data?.events.find(({ keyId }) => keyId === search.key)?.credentialName ?? undefined}
      />
      <div role="status" className="audit-new">
        {newCount > 0 && (
          <Button size="sm" variant="light" onClick={showNew}>
            {words.showNew(newCount)}
          </Button>
        )}
      </div>
      {save.error !== null && <FailureAlert failure={toFailure(save.error)} onClose={save.reset} />}
      {page.error !== null && <FailureAlert failure={toFailure(page.error)} retry={() => void page.refetch()} />}
      {data === undefined && page.error === null && <Placeholder rows={6} />}
      {data !== undefined && (
        <DataTable
          name={words.title}
          rows={data.events}
          columns={auditColumns}
          rowId={rowId}
          rowName={describeEvent}
          groupOf={({ occurredAt }) => day(occurredAt)}
          order={{
            column: 'time',
            columns: ['time'],
            isDescending: order === 'newest',
            onChange: () => change({ sort: order === 'newest' ? 'time' : undefined }),
          }}
          empty={<NoEvents filter={filter} />}
          hasOwnExport
          tools={FORMATS.map((format) => (
            <Button
              key={format}
              size="sm"
              variant="default"
              loading={save.isPending && save.variables === format}
              onClick={() => save.submit(format)}
            >
              {words.download[format]}
            </Button>
          ))}
        />
      )}
      {(cursors.length > 0 || next !== null) && (
        <Group component="nav" aria-label={words.pages} justify="space-between">
          <Button variant="default" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
            {order === 'newest' ? words.newer : words.older}
          </Button>
          <Button
            variant="default"
            disabled={next === null}
            loading={page.isPlaceholderData}
            onClick={() => next !== null && setCursors([...cursors, next])}
          >
            {order === 'newest' ? words.older : words.newer}
          </Button>
        </Group>
      )}
    </Page>
  );
}

function NoEvents({ filter }: { readonly filter: AuditFilter }) {
  const names = Object.keys(filter);
  const [title, description] =
    names.length === 0
      ? [words.emptyTitle, words.empty]
      : names.length === 1 && filter.kind !== undefined
        ? [words.noneTitle, words.none]
        : [words.noMatchTitle, words.noMatch];
  return <EmptyState variant="light" title={title} description={description} />;
}
