import { VisuallyHidden } from '@mantine/core';
import { useDates } from './dates.ts';
import './day-plot.css';

const BAR = 8;
const HEIGHT = 100;

/** The lines above zero at most. */
const TICKS = 3;

/** Returns the labels of an axis from zero: equal steps of 1, 2 or 5 and a power of ten, to the first that is as high. */
function toTicks(most: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most / TICKS)));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size * TICKS >= most) ?? 10 * power;
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, index) => index * step);
}

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
  readonly barTitle: (values: Day) => string;
  /** Whether the table leaves days out. All are drawn. */
  readonly isOmitted?: (value: number) => boolean;
};

/** A number of each day as bars, and as a table for screen readers. */
export function DayPlot({ days, caption, dayTitle, valueTitle, barTitle, isOmitted }: DayPlotProps) {
  const { calendarDay, shortCalendarDay, number } = useDates();
  const ticks = toTicks(Math.max(...days.map(({ value }) => value)));
  const top = ticks.at(-1) ?? 1;
  return (
    <>
      <div className="day-plot" aria-hidden="true">
        <div className="day-ticks">
          {ticks.map((tick) => (
            <span key={tick}>{number(tick)}</span>
          ))}
        </div>
        <svg viewBox={`0 0 ${days.length * BAR} ${HEIGHT}`} preserveAspectRatio="none">
          {ticks.map((tick) => (
            <line
              key={tick}
              x2={days.length * BAR}
              y1={HEIGHT - (tick / top) * HEIGHT}
              y2={HEIGHT - (tick / top) * HEIGHT}
            />
          ))}
          {days.map(({ day, value }, index) => {
            const height = value === 0 ? 0 : Math.max(2, (value / top) * HEIGHT);
            return (
              <g key={day}>
                <rect x={index * BAR + 1} y={HEIGHT - height} width={BAR - 2} height={height} />
                {/* The title of a low bar can be reached anywhere above it. */}
                <rect x={index * BAR} width={BAR} height={HEIGHT} className="day-target">
                  <title>{barTitle({ day: calendarDay(day), value })}</title>
                </rect>
              </g>
            );
          })}
        </svg>
        <div className="day-axis">
          {[0, Math.floor(days.length / 2), days.length - 1].map((index) => (
            <span key={index}>{shortCalendarDay(days[index]?.day ?? '')}</span>
          ))}
        </div>
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
                  <th scope="row">{calendarDay(day)}</th>
                  <td>{number(value)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </>
  );
}
