import { Button, Group, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useDates } from '../../components/dates.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Placeholder } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { SHOWN_EVENTS } from '../../page-queries.ts';
import { accountTexts } from '../../messages/account.ts';
import { auditTexts } from '../../messages/audit.ts';
import { query, toFailure, type Outputs } from '../../trpc.ts';
import { describeOwnEvent } from './own-event.ts';
import { SEPARATOR } from '../../messages/language.ts';

type OwnEvent = Outputs['account']['activity']['events'][number];

const words = accountTexts.activity;

/** What the user did, and what happened to the account, newest first. */
export function Activity({ name }: { readonly name: string }) {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const page = useQuery({
    ...query('account.activity', { limit: SHOWN_EVENTS.account, ...(cursor !== undefined && { cursor }) }),
    placeholderData: keepPreviousData,
  });
  const next = page.data?.nextCursor ?? null;
  return (
    <Section anchor="activity" title={words.title} explanation={words.explanation}>
      {page.error !== null && <FailureAlert failure={toFailure(page.error)} retry={() => void page.refetch()} />}
      {page.isPending && <Placeholder rows={SHOWN_EVENTS.account} height={44} />}
      {page.data?.events.length === 0 && (
        <Text size="sm" c="dimmed">
          {auditTexts.emptyTitle}
        </Text>
      )}
      {page.data !== undefined && page.data.events.length > 0 && (
        <ul className="rows" aria-label={words.title} aria-busy={page.isPlaceholderData}>
          {page.data.events.map((event) => (
            <EventRow key={event.id} event={event} name={name} />
          ))}
        </ul>
      )}
      {(cursors.length > 0 || next !== null) && (
        <Group component="nav" aria-label={auditTexts.pages} justify="space-between">
          <Button
            variant="default"
            size="sm"
            disabled={cursors.length === 0}
            onClick={() => setCursors(cursors.slice(0, -1))}
          >
            {auditTexts.newer}
          </Button>
          <Button
            variant="default"
            size="sm"
            disabled={next === null || page.isPlaceholderData}
            onClick={() => next !== null && setCursors([...cursors, next])}
          >
            {auditTexts.older}
          </Button>
        </Group>
      )}
    </Section>
  );
}

function EventRow({ event, name }: { readonly event: OwnEvent; readonly name: string }) {
  const { minute } = useDates();
  const { occurredAt, address, count } = event;
  return (
    <li className="row">
      <div className="row-text">
        <Text fw={500} size="sm" className="wrap">
          <bdi>{describeOwnEvent(event, name)}</bdi>
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
