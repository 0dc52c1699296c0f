import { VisuallyHidden } from '@mantine/core';
import { useDates } from './dates.ts';
import './day-plot.css';

const BAR = 8;
const HEIGHT = 80;

type Day = { readonly day: string; readonly value: number };

const DAY_MS = 86_400_000;

/** Returns the last days (UTC) in their order, with 0 for those that are missing. */
export function lastDays(days: readonly Day[], count = 30): readonly Day[] {
  const values = new Map(days.map(({ day, value }) => [day, value]));
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(Date.now() - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return { day, value: values.get(day) ?? 0 };
  });
}

type DayPlotProps = {
  /** Consecutive days (UTC). */
  readonly days: readonly Day[];
  /** The caption of the table. */
  readonly caption: string;
  readonly dayTitle: string;
  readonly valueTitle: string;
  /** The text between the first and the last day. */
  readonly legend: (most: number) => string;
  readonly barTitle: (values: Day) => string;
  /** Whether the table leaves days out. All are drawn. */
  readonly isOmitted?: (value: number) => boolean;
};

/** A number of each day as bars, and as a table for screen readers. */
export function DayPlot({ days, caption, dayTitle, valueTitle, legend, barTitle, isOmitted }: DayPlotProps) {
  const { day: format, number } = useDates();
  const most = Math.max(1, ...days.map(({ value }) => value));
  return (
    <>
      <svg
        viewBox={`0 0 ${days.length * BAR} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="day-plot"
        aria-hidden="true"
      >
        {days.map(({ day, value }, index) => {
          const height = value === 0 ? 1 : Math.max(3, (value / most) * HEIGHT);
          return (
            <rect key={day} x={index * BAR + 1} y={HEIGHT - height} width={BAR - 2} height={height}>
              <title>{barTitle({ day: format(day), value })}</title>
            </rect>
          );
        })}
      </svg>
      <div className="day-axis" aria-hidden="true">
        <span>{format(days[0]?.day ?? '')}</span>
        <span>{legend(most)}</span>
        <span>{format(days.at(-1)?.day ?? '')}</span>
      </div>
      <VisuallyHidden>
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{dayTitle}</th>
              <th scope="col">{valueTitle}</th>
            </tr>
          </thead>
          <tbody>
            {days
              .filter(({ value }) => isOmitted?.(value) !== true)
              .map(({ day, value }) => (
                <tr key={day}>
                  <th scope="row">{format(day)}</th>
                  <td>{number(value)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </>
  );
}
