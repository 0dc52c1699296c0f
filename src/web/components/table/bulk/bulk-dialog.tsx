import { Alert, Button, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { texts } from '../../../messages/console.ts';
import { tableTexts } from '../../../messages/table.ts';
import { DialogButtons, DialogFooter } from '../../dialog-buttons.tsx';
import { Dialog } from '../../dialog.tsx';
import { FailureAlert } from '../../failure-alert.tsx';
import { BULK_MAX, type BulkAction } from './bulk-action.ts';
import { Outcomes } from './outcomes.tsx';
import { useBulkRun } from './use-bulk-run.ts';
import { SEPARATOR } from '../../../messages/language.ts';
import { useKept } from '../../../kept.ts';

const words = tableTexts.bulk;

/** Names that a sentence lists at most. */
const NAMED = 5;

type BulkDialogProps<Row> = {
  readonly action: BulkAction<Row>;
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
  readonly rowName: (row: Row) => string;
  readonly onEnd: (() => void) | undefined;
  /** Called with the rows that the action was done on. */
  readonly onClose: (done: readonly Row[]) => void;
};

/** Asks before an action on several rows, and then shows the outcome of each. */
export function BulkDialog<Row>({ action, rows, rowId, rowName, onEnd, onClose }: BulkDialogProps<Row>) {
  const [applicable] = useState(() => rows.filter(action.applies));
  const targets = applicable.slice(0, BULK_MAX);
  const [chosen, setChosen] = useKept('chosen for all', action.choice?.options[0]?.value ?? '');
  const [isReady, setReady] = useState(action.details === undefined);
  const run = useBulkRun(rowId, (row: Row) => action.call(row, chosen));
  const { outcomes, isRunning, fatal } = run;
  const inState = (...states: string[]) =>
    targets.filter((row) => states.includes(outcomes.get(rowId(row))?.state ?? ''));
  const start = async (which: readonly Row[]) => {
    const failure = await run.start(which);
    // Reading again without a session leads to the sign-in page: not before the outcomes were read.
    if (failure === undefined) onEnd?.();
  };
  const close = () => {
    onClose(inState('done'));
    if (fatal !== undefined) onEnd?.();
  };
  if (outcomes.size === 0) {
    const others = rows.filter((row) => !action.applies(row)).map(rowName);
    return (
      <Dialog onClose={() => onClose([])} title={action.title(targets.length)}>
        <Stack gap="md">
          <Text>{targets.length === 0 ? words.impossible : action.explanation}</Text>
          {others.length > 0 && (
            <Text size="sm" c="dimmed" className="wrap">
              {words.notPossible(list(others))}
            </Text>
          )}
          {applicable.length > BULK_MAX && (
            <Alert color="yellow">{words.onlyFirst({ limit: BULK_MAX, count: applicable.length })}</Alert>
          )}
          {action.choice && targets.length > 0 && (
            <NativeSelect
              label={action.choice.label}
              value={chosen}
              onChange={({ currentTarget }) => setChosen(currentTarget.value)}
              data={[...action.choice.options]}
            />
          )}
          {targets.length > 0 &&
            action.details?.({ rows: targets, chosen, onChoose: setChosen, onReady: () => setReady(true) })}
          <DialogButtons onCancel={() => onClose([])} focusCancel>
            <Button
              {...(action.color && { color: action.color })}
              disabled={targets.length === 0 || !isReady}
              onClick={() => void start(targets)}
            >
              {/* The ellipsis announced this dialog. */}
              {action.label.replace(/…$/u, '')}
            </Button>
          </DialogButtons>
        </Stack>
      </Dialog>
    );
  }
  const again = inState('failed', 'unknown', 'waiting');
  return (
    <Dialog onClose={close} title={action.title(targets.length)} isBusy={isRunning} closeOnClickOutside={false}>
      <Stack gap="md">
        {fatal !== undefined && <FailureAlert failure={fatal} />}
        <Outcomes rows={targets} rowId={rowId} rowName={rowName} {...run} />
        <DialogFooter>
          {isRunning ? (
            <Button variant="default" onClick={run.stop}>
              {words.stop}
            </Button>
          ) : (
            <>
              {again.length > 0 && (
                <Button variant="default" onClick={() => void start(again)}>
                  {words.again(again.length)}
                </Button>
              )}
              <Button data-autofocus onClick={close}>
                {texts.close}
              </Button>
            </>
          )}
        </DialogFooter>
      </Stack>
    </Dialog>
  );
}

const list = (names: readonly string[]): string =>
  names.length <= NAMED
    ? names.join(SEPARATOR)
    : words.andMore({ names: names.slice(0, NAMED).join(SEPARATOR), more: names.length - NAMED });
