import { Text } from '@mantine/core';
import { usageTexts as words } from '../messages/usage.ts';
import { DayPlot } from './day-plot.tsx';

type Day = { readonly day: string; readonly requests: number };

const DAY_MS = 86_400_000;

/** Fills up the days (UTC) without requests. */
function lastDays(days: readonly Day[], count: number) {
  const requests = new Map(days.map(({ day, requests: number }) => [day, number]));
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(Date.now() - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return { day, value: requests.get(day) ?? 0 };
  });
}

/** Requests by day as bars, and as a table for screen readers. */
export function UsagePlot({ days, count = 30 }: { readonly days: readonly Day[]; readonly count?: number }) {
  const shown = lastDays(days, count);
  const total = shown.reduce((sum, { value }) => sum + value, 0);
  return (
    <div className="usage">
      <Text size="sm" fw={600}>
        {words.total({ requests: total, days: count })}
      </Text>
      <DayPlot
        days={shown}
        caption={words.caption(count)}
        dayTitle={words.day}
        valueTitle={words.requests}
        legend={words.most}
        barTitle={({ day, value }) => words.bar({ day, requests: value })}
        isOmitted={(value) => value === 0}
      />
    </div>
  );
}
