import { trpc } from '../../../trpc.ts';
import type { AuditEvent } from './event-row.tsx';

export type Format = 'ndjson' | 'csv';

const PAGE_SIZE = 500;

const COLUMNS: Readonly<Record<string, (event: AuditEvent) => unknown>> = {
  id: ({ id }) => id,
  occurredAt: ({ occurredAt }) => occurredAt,
  event: ({ event }) => event,
  actorKind: ({ actorKind }) => actorKind,
  actorId: ({ actor }) => actor?.userId,
  actorName: ({ actor }) => actor?.name,
  credentialName: ({ credentialName }) => credentialName,
  subjectId: ({ subject }) => subject?.userId,
  subjectName: ({ subject }) => subject?.name,
  targetId: ({ target }) => target?.id,
  targetName: ({ target }) => target?.name,
  address: ({ address }) => address,
  requestId: ({ requestId }) => requestId,
  reason: ({ reason }) => reason,
  count: ({ count }) => count,
};

type Filter = Omit<Parameters<typeof trpc.audit.list.query>[0], 'cursor' | 'limit'>;

/** Saves all events that the user can see as a file, newest first. */
export async function download(filter: Filter, format: Format): Promise<void> {
  const parts = format === 'csv' ? [`${Object.keys(COLUMNS).join(',')}\r\n`] : [];
  const line = format === 'csv' ? csvLine : jsonLine;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { events, nextCursor } = await trpc.audit.list.query({
      ...filter,
      limit: PAGE_SIZE,
      ...(cursor && { cursor }),
    });
    parts.push(...events.map(line));
    cursor = nextCursor;
  }
  const url = URL.createObjectURL(new Blob(parts));
  const link = document.createElement('a');
  link.href = url;
  link.download = `audit-log.${format}`;
  link.click();
  // Some browsers start reading the URL after the click handler returns.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const jsonLine = (event: AuditEvent): string => `${JSON.stringify(event)}\n`;

const csvLine = (event: AuditEvent): string =>
  `${Object.values(COLUMNS)
    .map((valueOf) => cell(valueOf(event)))
    .join(',')}\r\n`;

/** Returns a field of RFC 4180. Values that start like a formula are escaped, so that spreadsheets do not run them. */
function cell(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^""$/, '');
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
