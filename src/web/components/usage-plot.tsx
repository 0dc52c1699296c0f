import { Text, VisuallyHidden } from '@mantine/core';
import { usageTexts as words } from '../messages/usage.ts';
import { useDates } from './dates.ts';
import './usage-plot.css';

type Day = { readonly day: string; readonly requests: number };

const DAY_MS = 86_400_000;
const BAR = 8;
const HEIGHT = 80;

/** Fills up the days (UTC) without requests. */
function lastDays(days: readonly Day[], count: number): readonly Day[] {
  const requests = new Map(days.map(({ day, requests: number }) => [day, number]));
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(Date.now() - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return { day, requests: requests.get(day) ?? 0 };
  });
}

/** Requests by day as bars, and as a table for screen readers. */
export function UsagePlot({ days, count = 30 }: { readonly days: readonly Day[]; readonly count?: number }) {
  const { day: format, number } = useDates();
  const shown = lastDays(days, count);
  const most = Math.max(1, ...shown.map(({ requests }) => requests));
  const total = shown.reduce((sum, { requests }) => sum + requests, 0);
  return (
    <div className="usage">
      <Text size="sm" fw={600}>
        {words.total({ requests: total, days: count })}
      </Text>
      <svg
        viewBox={`0 0 ${count * BAR} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="usage-plot"
        aria-hidden="true"
      >
        {shown.map(({ day, requests }, index) => {
          const height = requests === 0 ? 1 : Math.max(3, (requests / most) * HEIGHT);
          return (
            <rect key={day} x={index * BAR + 1} y={HEIGHT - height} width={BAR - 2} height={height}>
              <title>{words.bar({ day: format(day), requests })}</title>
            </rect>
          );
        })}
      </svg>
      <div className="usage-axis" aria-hidden="true">
        <span>{format(shown[0]?.day ?? '')}</span>
        <span>{words.most(most)}</span>
        <span>{format(shown.at(-1)?.day ?? '')}</span>
      </div>
      <VisuallyHidden>
        <table>
          <caption>{words.caption(count)}</caption>
          <thead>
            <tr>
              <th scope="col">{words.day}</th>
              <th scope="col">{words.requests}</th>
            </tr>
          </thead>
          <tbody>
            {shown
              .filter(({ requests }) => requests > 0)
              .map(({ day, requests }) => (
                <tr key={day}>
                  <th scope="row">{format(day)}</th>
                  <td>{number(requests)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </div>
  );
}
