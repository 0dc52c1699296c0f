import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';

export type Selection<Row> = {
  /** The selected rows among those that are shown: an action never applies to rows that a filter hides. */
  readonly rows: readonly Row[];
  readonly has: (id: string) => boolean;
  /** Selects a row, or clears it. With `isRange` also all rows from the last one that was changed. */
  readonly toggle: (id: string, isSelected: boolean, isRange: boolean) => void;
  readonly toggleAll: (isSelected: boolean) => void;
};

/** Keeps which rows are selected, by their ids. */
export function useSelection<Row>(shown: readonly Row[], rowId: (row: Row) => string): Selection<Row> {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  const order = useRef<readonly string[]>([]);
  // A ref, so that rows get the same function when others are shown.
  useLayoutEffect(() => {
    order.current = shown.map(rowId);
  }, [shown, rowId]);

  const set = useCallback((changed: readonly string[], isSelected: boolean) => {
    setIds((current) => {
      const next = new Set(current);
      for (const id of changed) {
        if (isSelected) next.add(id);
        else next.delete(id);
      }
      return next;
    });
  }, []);
  const toggle = useCallback(
    (id: string, isSelected: boolean, isRange: boolean) => {
      const [from, to] = [order.current.indexOf(last.current ?? id), order.current.indexOf(id)];
      const range = order.current.slice(Math.min(from, to), Math.max(from, to) + 1);
      set(isRange && from >= 0 ? range : [id], isSelected);
      last.current = id;
    },
    [set],
  );
  const toggleAll = useCallback(
    (isSelected: boolean) => (isSelected ? set(order.current, true) : setIds(new Set())),
    [set],
  );
  const rows = useMemo(() => shown.filter((row) => ids.has(rowId(row))), [shown, ids, rowId]);
  return { rows, has: (id) => ids.has(id), toggle, toggleAll };
}
