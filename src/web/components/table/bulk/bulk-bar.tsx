import { Button, Group, Text } from '@mantine/core';
import { lazy } from 'react';
import { tableTexts as words } from '../../../messages/table.ts';
import { LoadedDialog } from '../../loaded-dialog.tsx';
import type { Selection } from '../selection.ts';
import type { BulkAction } from './bulk-action.ts';
import type { BulkDialog as TypedBulkDialog } from './bulk-dialog.tsx';
import { useKept } from '../../../kept.ts';

// Tables load without it, because few visits change several rows.
const BulkDialog = lazy(async () => ({
  default: (await import('./bulk-dialog.tsx')).BulkDialog,
})) as unknown as typeof TypedBulkDialog; // `lazy` loses the type of the rows

type BulkBarProps<Row> = {
  readonly selection: Selection<Row>;
  readonly actions: readonly BulkAction<Row>[];
  readonly rowId: (row: Row) => string;
  readonly rowName: (row: Row) => string;
  readonly onExport: () => void;
  readonly onEnd: (() => void) | undefined;
};

/** What can be done with the selected rows. The status is always present, so that screen readers announce it. */
export function BulkBar<Row>({ selection, actions, rowId, rowName, onExport, onEnd }: BulkBarProps<Row>) {
  // The rows are kept with the action, because the action can remove them from the table.
  const [open, setOpen] = useKept<{ id: string; rows: readonly Row[] } | undefined>('bulk dialog', undefined);
  const { rows } = selection;
  const action = actions.find(({ id }) => id === open?.id);
  return (
    <div
      role="group"
      aria-label={words.selection}
      className="data-selection"
      data-empty={rows.length === 0 || undefined}
    >
      <Text size="sm" fw={600} role="status">
        {rows.length > 0 && words.selected(rows.length)}
      </Text>
      {rows.length > 0 && (
        <Group gap="xs">
          {actions.map((action) => (
            <Button
              key={action.id}
              size="compact-sm"
              variant="default"
              className={action.color === 'red' ? 'data-danger' : undefined}
              onClick={() => setOpen({ id: action.id, rows })}
            >
              {action.label}
            </Button>
          ))}
          <Button size="compact-sm" variant="default" onClick={onExport}>
            {words.csv}
          </Button>
          <Button size="compact-sm" variant="subtle" onClick={() => selection.toggleAll(false)}>
            {words.clear}
          </Button>
        </Group>
      )}
      {open && action && (
        <LoadedDialog onClose={() => setOpen(undefined)}>
          <BulkDialog
            action={action}
            rows={open.rows}
            rowId={rowId}
            rowName={rowName}
            onEnd={onEnd}
            onClose={(done) => {
              setOpen(undefined);
              for (const row of done) selection.toggle(rowId(row), false, false);
            }}
          />
        </LoadedDialog>
      )}
    </div>
  );
}
