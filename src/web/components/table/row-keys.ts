import { useLayoutEffect, useRef, type KeyboardEvent } from 'react';

/** Rows that PageUp and PageDown move by. */
const PAGE = 10;

const STEPS: Readonly<Record<string, (index: number) => number>> = {
  ArrowDown: (index) => index + 1,
  ArrowUp: (index) => index - 1,
  PageDown: (index) => index + PAGE,
  PageUp: (index) => index - PAGE,
  Home: () => 0,
  End: () => Number.MAX_SAFE_INTEGER,
};

const controlsOf = (row: Element) => [...row.querySelectorAll<HTMLElement>('a[href], button, input')];

/** Moves the focus between the same controls of rows by arrow keys, PageUp, PageDown, Home and End. */
export function useRowKeys(count: number, scrollTo: (index: number) => void) {
  const wanted = useRef<{ index: number; control: number }>(undefined);
  const body = useRef<HTMLTableSectionElement>(null);

  const focus = (): boolean => {
    const row = wanted.current && body.current?.querySelector(`[data-index="${wanted.current.index}"]`);
    if (!row || !wanted.current) return false;
    const controls = controlsOf(row);
    (controls[wanted.current.control] ?? controls.at(-1))?.focus();
    wanted.current = undefined;
    return true;
  };
  // A row that was far away exists only after the table has scrolled to it.
  useLayoutEffect(() => void focus());

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = STEPS[event.key];
    if (step === undefined || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    if (!(event.target instanceof HTMLElement) || event.target.closest('[role="menu"]') !== null) return;
    const row = event.target.closest<HTMLElement>('tr[data-index]');
    const control = row === null ? -1 : controlsOf(row).indexOf(event.target);
    if (row === null || control < 0) return;
    event.preventDefault();
    const index = Math.min(count - 1, Math.max(0, step(Number(row.dataset['index']))));
    wanted.current = { index, control };
    if (!focus()) scrollTo(index);
  };
  return { body, onKeyDown };
}
