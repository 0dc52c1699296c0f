import { useEffect, useState } from 'react';

/** The element that was focused last, and the one outside of dialogs and menus. */
let last: HTMLElement | null = null;
let lastOutside: HTMLElement | null = null;

document.addEventListener('focusin', ({ target }) => {
  if (!(target instanceof HTMLElement)) return;
  last = target;
  if (target.closest('[role="dialog"], [role="menu"]') === null) lastOutside = target;
});

const dialogOf = (element: HTMLElement | null) => element?.closest<HTMLElement>('[role="dialog"]') ?? null;

const hasFocus = (): boolean => document.activeElement !== document.body && document.activeElement !== null;

/**
 * Moves the focus back on unmount: to the element that opened the dialog or, if that no longer exists, to the heading
 * of the page; to where it was in the dialog below, if there is one. Without it the focus falls to the body, and the
 * keyboard starts at the top of the page.
 */
export function useFocusReturn(): void {
  const [opener] = useState(() => lastOutside);
  const [below] = useState(() => ({ field: last, dialog: dialogOf(last) }));
  useEffect(
    () => () => {
      // After the render that removes the dialog, which can remove the opener, or open the next dialog.
      requestAnimationFrame(() => {
        if (hasFocus()) return;
        if (below.dialog?.isConnected) {
          below.field?.focus();
          if (!hasFocus()) below.dialog.focus(); // the field was removed or disabled
          return;
        }
        if (document.querySelector('[role="dialog"]') !== null) return;
        if (opener?.isConnected) opener.focus();
        if (!hasFocus()) document.querySelector('h1')?.focus();
      });
    },
    [opener, below],
  );
}
