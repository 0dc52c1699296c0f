import { definePageTexts } from './define-page-texts.ts';

/** Texts of every table. */
export const tableTexts = definePageTexts('table', {
  all: '{filter}: all',
  option: '{filter}: {value}',
  columns: 'Columns',
  columnsTitle: 'Columns to show',
  csv: 'Export CSV',
  csvHint: '{count, plural, one {Export # row as CSV} other {Export # rows as CSV}}',
  onPage: '{count, plural, one {# entry on this page} other {# entries on this page}}',
  actions: 'Actions',
  actionsOf: 'Actions for {row}',
  select: 'Select {row}',
  selectAll: '{count, plural, one {Select # row} other {Select all # rows}}',
  selection: 'Selection',
  selected: '{count, plural, one {# selected} other {# selected}}',
  clear: 'Clear selection',
  ascending: 'Sorted by {column}, ascending',
  descending: 'Sorted by {column}, descending',

  bulk: {
    onlyFirst:
      'At most {limit, number} rows at a time. This concerns the first {limit, number} of {count, number}. The others stay selected.',
    notPossible: 'Not possible for: {names}.',
    andMore: '{names} and {more, number} more',
    impossible: 'This is not possible for any of the selected rows.',
    results: 'Results',
    progress: 'Progress',
    finished: '{count, number} of {all, number} finished',
    doneCount: '{count, number} done',
    failedCount: '{count, number} failed',
    restCount: '{count, number} not started',
    states: {
      waiting: 'Not started',
      running: 'Running…',
      done: 'Done',
      failed: 'Failed',
      unknown: 'No answer: it may have been done',
    },
    waitingFor: 'Rate limit reached. Continues in {seconds, number} s.',
    stop: 'Stop',
    again: '{count, plural, one {Try # again} other {Try # again}}',
  },
});
