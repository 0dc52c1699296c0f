import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { query, type Inputs, type Outputs } from '../../../trpc.ts';

type EventPage = Outputs['audit']['list'];

/** How often the first page asks for new events. */
const LIVE_MS = 15_000;

/**
 * Reads a page of events. New ones are counted while the first page is open, and shown when the user asks for them, so
 * that what is being read does not move.
 */
export function useLiveEvents(search: Inputs['audit']['list'], cursor: string | undefined) {
  const input = { ...search, ...(cursor !== undefined && { cursor }) };
  const isLive = cursor === undefined && search.order !== 'oldest';
  const page = useQuery({
    ...query('audit.list', input),
    placeholderData: keepPreviousData,
    refetchInterval: () => (isLive && navigator.onLine ? LIVE_MS : false),
  });
  const [shown, setShown] = useState<{ readonly key: string; readonly page: EventPage }>();
  const key = JSON.stringify(input);
  const isShown = shown?.key === key;
  const latest = page.isPlaceholderData ? undefined : page.data;
  if (!isShown && latest !== undefined && !page.isFetching) setShown({ key, page: latest });

  const data = isShown ? shown.page : page.data;
  const first = data?.events[0]?.id;
  const place = latest?.events.findIndex(({ id }) => id === first) ?? 0;
  const count = !isLive || !isShown || latest === undefined ? 0 : place < 0 ? latest.events.length : place;
  return {
    page,
    data,
    /** The number of new events that are not shown. */
    newCount: first === undefined ? (isShown ? (latest?.events.length ?? 0) : 0) : count,
    showNew: () => latest !== undefined && setShown({ key, page: latest }),
  };
}
