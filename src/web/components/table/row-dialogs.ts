import { useKept } from '../../kept.ts';
import { focusRow } from '../row-menu.tsx';

/** The name under which the dialog of a row is kept. A page has one table whose rows have dialogs. */
export const ROW_DIALOG = 'row dialog';

/** Keeps which dialog of which row is open. A dialog can outlive its row, so the page shows it, not the row. */
export function useRowDialogs<Row, Kind extends string>(rowId: (row: Row) => string) {
  const [asked, setAsked] = useKept<{ readonly kind: Kind; readonly row: Row } | undefined>(ROW_DIALOG, undefined);
  return {
    asked,
    ask: (kind: Kind, row: Row) => setAsked({ kind, row }),
    close: () => {
      setAsked(undefined);
      if (asked !== undefined) requestAnimationFrame(() => focusRow(rowId(asked.row)));
    },
  };
}
