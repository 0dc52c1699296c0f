import { useState } from 'react';
import { focusRow } from '../row-menu.tsx';

/** Keeps which dialog of which row is open. A dialog can outlive its row, so the page shows it, not the row. */
export function useRowDialogs<Row, Kind extends string>(rowId: (row: Row) => string) {
  const [asked, setAsked] = useState<{ readonly kind: Kind; readonly row: Row }>();
  return {
    asked,
    ask: (kind: Kind, row: Row) => setAsked({ kind, row }),
    close: () => {
      setAsked(undefined);
      if (asked !== undefined) requestAnimationFrame(() => focusRow(rowId(asked.row)));
    },
  };
}
