import { Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useDates } from '../../../components/dates.ts';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { TextLink } from '../../../components/links.tsx';
import { Placeholder } from '../../../components/page.tsx';
import { Section } from '../../../components/section.tsx';
import { SHOWN_EVENTS } from '../../../page-queries.ts';
import { auditTexts } from '../../../messages/audit.ts';
import { overviewTexts } from '../../../messages/team.ts';
import { toFailure, type Outputs } from '../../../trpc.ts';
import { describeEvent } from '../audit/event-cell.tsx';
import type { AuditEvent } from '../audit/event.ts';
import { useTeam } from '../team.ts';
import { SEPARATOR } from '../../../messages/language.ts';

const words = overviewTexts.activity;

type ActivityProps = { readonly page: UseQueryResult<Outputs['audit']['list']> };

/** The newest events of the team. */
export function Activity({ page: { data, error, isPending, refetch } }: ActivityProps) {
  const { team } = useTeam();
  return (
    <Section title={words.title} explanation={words.explanation}>
      {error !== null && <FailureAlert failure={toFailure(error)} retry={() => void refetch()} />}
      {isPending && <Placeholder rows={SHOWN_EVENTS.overview} height={56} />}
      {data?.events.length === 0 && <Text c="dimmed">{words.none}</Text>}
      {data !== undefined && data.events.length > 0 && (
        <ul className="rows" aria-label={words.title}>
          {data.events.map((event) => (
            <EventRow key={event.id} event={event} />
          ))}
        </ul>
      )}
      <Text size="sm">
        <TextLink to="/teams/$teamId/audit" params={{ teamId: team.slug }}>
          {words.all}
        </TextLink>
      </Text>
    </Section>
  );
}

function EventRow({ event }: { readonly event: AuditEvent }) {
  const { minute } = useDates();
  const { occurredAt, address, count } = event;
  return (
    <li className="row">
      <div className="row-text">
        <Text fw={500} size="sm" className="wrap">
          <bdi>{describeEvent(event)}</bdi>
        </Text>
        <Text size="sm" c="dimmed" className="wrap">
          <time dateTime={occurredAt}>{minute(occurredAt)}</time>
          {address !== null && SEPARATOR + auditTexts.from(address)}
          {count > 1 && SEPARATOR + auditTexts.times(count)}
        </Text>
      </div>
    </li>
  );
}
