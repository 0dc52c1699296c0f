import { Progress, Text } from '@mantine/core';
import { memo } from 'react';
import { tableTexts } from '../../../messages/table.ts';
import type { Outcome } from './run.ts';
import { SEPARATOR } from '../../../messages/language.ts';
import { Name } from '../../name.tsx';

const words = tableTexts.bulk;

const COLORS: Readonly<Record<Outcome['state'], string>> = {
  waiting: 'dimmed',
  running: 'dimmed',
  done: 'teal',
  failed: 'red',
  unknown: 'red',
};

type OutcomesProps<Row> = {
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
  readonly rowName: (row: Row) => string;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly isRunning: boolean;
  readonly waitSeconds: number;
};

/** The progress of an action, and the outcome of each row. The end is announced. */
export function Outcomes<Row>({ rows, rowId, rowName, outcomes, isRunning, waitSeconds }: OutcomesProps<Row>) {
  const outcomeOf = (row: Row): Outcome => outcomes.get(rowId(row)) ?? { state: 'waiting' };
  const count = (...states: Outcome['state'][]) => rows.filter((row) => states.includes(outcomeOf(row).state)).length;
  const done = count('done');
  const failed = count('failed', 'unknown');
  return (
    <>
      <Progress value={((done + failed) / rows.length) * 100} aria-label={words.progress} />
      <Text size="sm" aria-hidden={isRunning}>
        {waitSeconds > 0
          ? words.waitingFor(waitSeconds)
          : isRunning
            ? words.finished({ count: done + failed, all: rows.length })
            : undefined}
      </Text>
      <Text size="sm" fw={600} role="status">
        {!isRunning && describeEnd(done, failed, count('waiting'))}
      </Text>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, also by keyboard */}
      <ul className="data-outcomes" aria-label={words.results} tabIndex={0}>
        {rows.map((row) => (
          <OutcomeRow key={rowId(row)} name={rowName(row)} outcome={outcomeOf(row)} />
        ))}
      </ul>
    </>
  );
}

const OutcomeRow = memo(({ name, outcome }: { readonly name: string; readonly outcome: Outcome }) => (
  <li>
    <Name className="wrap">{name}</Name>
    <Text size="sm" component="span" c={COLORS[outcome.state]} className="wrap">
      {outcome.state === 'failed' ? outcome.failure.title : words.states[outcome.state]}
    </Text>
  </li>
));
OutcomeRow.displayName = 'OutcomeRow';

const describeEnd = (done: number, failed: number, rest: number): string =>
  [words.doneCount(done), failed > 0 && words.failedCount(failed), rest > 0 && words.restCount(rest)]
    .filter(Boolean)
    .join(SEPARATOR);
