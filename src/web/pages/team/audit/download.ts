import { csvLine, saveCsv, saveFile } from '../../../components/table/csv.ts';
import { trpc } from '../../../trpc.ts';
import type { AuditEvent } from './event.ts';

export type Format = 'ndjson' | 'csv';

const PAGE_SIZE = 500;

const COLUMNS: Readonly<Record<string, (event: AuditEvent) => unknown>> = {
  id: ({ id }) => id,
  occurredAt: ({ occurredAt }) => occurredAt,
  event: ({ event }) => event,
  actorKind: ({ actorKind }) => actorKind,
  actorId: ({ actor }) => actor?.accountId,
  actorName: ({ actor }) => actor?.name,
  credentialName: ({ credentialName }) => credentialName,
  subjectId: ({ subject }) => subject?.accountId,
  subjectName: ({ subject }) => subject?.name,
  targetId: ({ target }) => target?.id,
  targetName: ({ target }) => target?.name,
  address: ({ address }) => address,
  requestId: ({ requestId }) => requestId,
  reason: ({ reason }) => reason,
  count: ({ count }) => count,
  // New columns are the last ones, for readers that know columns by their place.
  clientRequestId: ({ clientRequestId }) => clientRequestId,
};

type Filter = Omit<Parameters<typeof trpc.audit.list.query>[0], 'cursor' | 'limit'>;

/** Saves all events that the user can see as a file, newest first. */
export async function download(filter: Filter, format: Format): Promise<void> {
  const parts = format === 'csv' ? [`${Object.keys(COLUMNS).join(',')}\r\n`] : [];
  const line = format === 'csv' ? csvLineOf : jsonLine;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { events, nextCursor } = await trpc.audit.list.query({
      ...filter,
      limit: PAGE_SIZE,
      ...(cursor && { cursor }),
    });
    parts.push(...events.map(line));
    cursor = nextCursor;
  }
  const save = format === 'csv' ? saveCsv : saveFile;
  save(`audit-log.${format}`, parts);
}

const jsonLine = (event: AuditEvent): string => `${JSON.stringify(event)}\n`;

const csvLineOf = (event: AuditEvent): string => csvLine(Object.values(COLUMNS).map((valueOf) => valueOf(event)));
