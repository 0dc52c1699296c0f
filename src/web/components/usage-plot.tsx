import { Text } from '@mantine/core';
import { usageTexts as words } from '../messages/usage.ts';
import { DayPlot, lastDays } from './day-plot.tsx';

type Day = { readonly day: string; readonly requests: number };

/** Requests by day as bars, and as a table for screen readers. */
export function UsagePlot({ days, count = 30 }: { readonly days: readonly Day[]; readonly count?: number }) {
  const shown = lastDays(
    days.map(({ day, requests }) => ({ day, value: requests })),
    count,
  );
  const total = shown.reduce((sum, { value }) => sum + value, 0);
  return (
    <div className="usage">
      <Text size="sm" fw={600}>
        {words.total({ requests: total, days: count })}
      </Text>
      {total > 0 && (
        <>
          <Text size="sm" c="dimmed">
            {words.most(Math.max(...shown.map(({ value }) => value)))}
          </Text>
          <DayPlot
            days={shown}
            caption={words.caption(count)}
            dayTitle={words.day}
            valueTitle={words.requests}
            barTitle={({ day, value }) => words.bar({ day, requests: value })}
            isOmitted={(value) => value === 0}
          />
        </>
      )}
    </div>
  );
}
