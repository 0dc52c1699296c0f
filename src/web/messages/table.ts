import { isolateNames } from './isolate.ts';

/** Texts of every table. */
export const tableTexts = isolateNames({
  all: (filter: string) => `${filter}: all`,
  option: (filter: string, value: string) => `${filter}: ${value}`,
  columns: 'Columns',
  columnsTitle: 'Columns to show',
  csv: 'Export CSV',
  csvHint: (count: number) => (count === 1 ? 'Export 1 row as CSV' : `Export ${count} rows as CSV`),
  actions: 'Actions',
  select: (row: string) => `Select ${row}`,
  selectAll: (count: number) => `Select all ${count} rows`,
  selection: 'Selection',
  selected: (count: number) => (count === 1 ? '1 selected' : `${count} selected`),
  clear: 'Clear selection',
  sorted: (column: string, isDescending: boolean) =>
    `Sorted by ${column}, ${isDescending ? 'descending' : 'ascending'}`,

  bulk: {
    tooMany: (limit: number) => `At most ${limit} rows at a time. Select fewer.`,
    notPossible: (names: string) => `Not possible for: ${names}.`,
    andMore: (names: string, more: number) => `${names} and ${more} more`,
    impossible: 'This is not possible for any of the selected rows.',
    results: 'Results',
    progress: 'Progress',
    finished: (count: number, all: number) => `${count} of ${all} finished`,
    ended: (done: number, failed: number, rest: number) =>
      [`${done} done`, ...(failed > 0 ? [`${failed} failed`] : []), ...(rest > 0 ? [`${rest} not started`] : [])].join(
        ', ',
      ),
    states: {
      waiting: 'Not started',
      running: 'Running…',
      done: 'Done',
      failed: 'Failed',
      unknown: 'No answer: it may have been done',
    },
    waitingFor: (seconds: number) => `Rate limit reached. Continues in ${seconds} s.`,
    stop: 'Stop',
    again: (count: number) => (count === 1 ? 'Try 1 again' : `Try ${count} again`),
  },
} as const);
