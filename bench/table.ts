import { median, type Measured, type Run } from './measure.ts';
import { TITLES } from './requests.ts';

const whole = (value: number): string => (Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en-US'));
const exact = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(2));

const of = (one: Measured, pick: (run: Run) => number): number => median(one.runs.map(pick));
const perSecondOf = (one: Measured): number => of(one, (run) => run.perSecond);
const cpuOf = (one: Measured): number => of(one, (run) => run.cpuMicroseconds);

/** A Markdown table: its header, then its rows. */
export const markdown = (rows: readonly (readonly string[])[]): string =>
  rows
    .map((row, index) => {
      const line = `| ${row.join(' | ')} |\n`;
      return index === 0 ? `${line}|${row.map((_, column) => (column === 0 ? '---|' : '--:|')).join('')}\n` : line;
    })
    .join('');

const PARTIES = ['servers', 'PostgreSQL', 'Redis', 'load'];
const BUSY = PARTIES.map((party) => `cores: ${party}`);
const busyOf = (one: Measured): string[] => PARTIES.map((party) => exact(of(one, (run) => run.busy[party] ?? NaN)));

/** How Roster compares, by requests a second and, in brackets, by the CPU time that each takes. */
export function ratios(measured: readonly Measured[]): string {
  const rows = [...new Set(measured.map(({ request }) => request))].map((request) => {
    const find = (name: string) => measured.find((one) => one.request === request && one.contender === name);
    const ratio = (name: string, other: string) => {
      const [one, base] = [find(name), find(other)];
      if (one === undefined || base === undefined) return '–';
      return `${exact(perSecondOf(one) / perSecondOf(base))} (${exact(cpuOf(base) / cpuOf(one))})`;
    };
    return [
      TITLES[request],
      ratio('roster', 'hand-written'),
      ratio('roster', 'equal guarantees'),
      ratio('roster', 'better-auth'),
      ratio('roster, OAuth token', 'roster'),
    ];
  });
  return markdown([
    ['request', 'Roster ÷ hand-written', 'Roster ÷ equal guarantees', 'Roster ÷ Better Auth', 'OAuth token ÷ key'],
    ...rows,
  ]);
}

/** How Roster on the large data set compares with Roster on the small one. */
export function sizeRatios(measured: readonly Measured[]): string {
  const rows = measured
    .filter(({ contender }) => contender === 'roster, large')
    .map((large) => {
      const small = measured.find(
        ({ request, contender }) => request === large.request && contender === 'roster, small',
      );
      return [TITLES[large.request], small === undefined ? '–' : exact(perSecondOf(large) / perSecondOf(small))];
    });
  return markdown([['request', 'large ÷ small'], ...rows]);
}

/** How the others compare with the first, as in `ratios`: behind each mode of a pooler with directly, for example. */
export function ratiosToFirst(measured: readonly Measured[]): string {
  const [first, ...others] = [...new Set(measured.map(({ contender }) => contender))];
  const rows = [...new Set(measured.map(({ request }) => request))].map((request) => {
    const find = (name: string | undefined) =>
      measured.find(({ contender, ...one }) => contender === name && one.request === request);
    const base = find(first);
    const cells = others.map((name) => {
      const one = find(name);
      if (one === undefined || base === undefined) return '–';
      return `${exact(perSecondOf(one) / perSecondOf(base))} (${exact(cpuOf(base) / cpuOf(one))})`;
    });
    return [TITLES[request], ...cells];
  });
  return markdown([['request', ...others.map((name) => `${name} ÷ ${first}`)], ...rows]);
}

/** The numbers of every server. */
export function details(measured: readonly Measured[]): string {
  const header = [
    'request',
    'server',
    'requests/s',
    'CPU µs/request',
    'p50 ms',
    'p99 ms',
    'p99.9 ms',
    'peak MB',
    ...BUSY,
  ];
  const rows = measured.map((one) => [
    TITLES[one.request],
    one.contender,
    whole(perSecondOf(one)),
    whole(cpuOf(one)),
    exact(one.latencyAtHalf.p50),
    exact(one.latencyAtHalf.p99),
    exact(one.latencyAtHalf.p999),
    whole(one.peakMegabytes),
    ...busyOf(one),
  ]);
  return markdown([header, ...rows]);
}

/** Throughput by the number of processes, and who is busy. */
export function scaling(measured: readonly Measured[]): string {
  const header = ['request', 'workers', 'requests/s', 'per worker', '÷ the first', 'CPU µs/request', ...BUSY];
  const rows = measured.map((one) => {
    const first = measured.find(({ request }) => request === one.request);
    return [
      TITLES[one.request],
      String(one.servers),
      whole(perSecondOf(one)),
      whole(perSecondOf(one) / one.servers),
      first === undefined ? '–' : exact(perSecondOf(one) / perSecondOf(first)),
      whole(cpuOf(one)),
      ...busyOf(one),
    ];
  });
  return markdown([header, ...rows]);
}
