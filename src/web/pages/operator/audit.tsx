import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Page } from '../../components/page.tsx';
import { operatorAuditTexts as words } from '../../messages/operator-audit.ts';
import { query } from '../../trpc.ts';
import { auditColumns, type OperatorEvent } from './audit-columns.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { ListTable } from './list.tsx';
import { Operators, VIEW } from './operators.tsx';
import { toInstant } from './values.ts';

const route = getRouteApi('/console/operator/audit');

/** The whole audit log, newest first, with filters that all have to match. */
export const OperatorAuditPage = () => (
  <Operators>
    <Audit />
  </Operators>
);

const rowId = ({ id }: OperatorEvent): string => id;
const rowName = ({ event }: OperatorEvent): string => event;

const DAY_MS = 24 * 60 * 60 * 1000;
const isDay = (text: string | undefined): text is string => text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text);

/** Returns the beginning of the day after. */
const dayAfter = (day: string): string => new Date(Date.parse(toInstant(day)) + DAY_MS).toISOString();

function Audit() {
  const { event, from, to, cursor, actorId, accountId, teamId, keyId } = route.useSearch();
  const ids = {
    ...(actorId && { actorId }),
    ...(accountId && { accountId }),
    ...(teamId && { teamId }),
    ...(keyId && { keyId }),
  };
  const navigate = useNavigate();
  const names = useQuery({ ...query('operator.eventNames'), staleTime: Infinity });
  const name = names.data?.find((each) => each === event);
  const page = useQuery({
    ...query('operator.audit', {
      ...ids,
      ...(name !== undefined && { event: name }),
      ...(isDay(from) && { from: toInstant(from) }),
      ...(isDay(to) && { to: dayAfter(to) }),
      ...(cursor !== undefined && { cursor }),
    }),
    ...VIEW,
    // A filter by an action needs its name to be known.
    enabled: event === undefined || names.data !== undefined,
  });
  return (
    <Page isWide title={words.title} explanation={words.explanation}>
      <AuditFilters
        events={names.data ?? []}
        filters={{ ...ids, ...(event && { event }), ...(from && { from }), ...(to && { to }) }}
        onFilter={(search) => void navigate({ to: '/operator/audit', search })}
      />
      <ListTable
        label={words.title}
        page={page}
        items={({ events }) => events}
        columns={auditColumns}
        rowId={rowId}
        rowName={rowName}
        empty={{ title: words.emptyTitle, description: words.empty }}
        cursor={cursor}
        next={page.data?.nextCursor}
        isSearched
      />
      {page.data?.isPartial && <Alert color="gray">{words.partial}</Alert>}
    </Page>
  );
}
