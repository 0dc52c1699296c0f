import { Paper, Title } from '@mantine/core';
import { useDates } from '../../../components/dates.ts';
import { auditTexts as words } from '../../../messages/audit.ts';
import { EventRow } from './event-row.tsx';
import type { AuditEvent } from './event.ts';

/** Events under the day on which they happened, in the user’s time zone. */
export function Days({ events }: { readonly events: readonly AuditEvent[] }) {
  const { day } = useDates();
  const days = Map.groupBy(events, ({ occurredAt }) => day(occurredAt));
  return [...days].map(([date, ofDay]) => (
    <section key={date} aria-label={date}>
      <Title order={2} size="h5" mb="xs">
        {date}
      </Title>
      <Paper component="ul" withBorder radius="lg" className="card-list" aria-label={words.listOf(date)}>
        {ofDay.map((event) => (
          <EventRow key={event.id} event={event} />
        ))}
      </Paper>
    </section>
  ));
}
