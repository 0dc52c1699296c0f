import { useEffect, useState } from 'react';

/** The element that was focused last outside of dialogs and menus. */
let lastOutside: HTMLElement | null = null;

document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLElement && target.closest('[role="dialog"], [role="menu"]') === null) lastOutside = target;
});

/**
 * Moves the focus back on unmount: to the element that opened the dialog or, if that no longer exists, to the heading
 * of the page. Without it the focus falls to the body, and the keyboard starts at the top of the page.
 */
export function useFocusReturn(): void {
  const [opener] = useState(() => lastOutside);
  useEffect(
    () => () => {
      // After the render that removes the dialog, which can remove the opener, or open the next dialog.
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body && document.activeElement !== null) return;
        if (document.querySelector('[role="dialog"]') !== null) return;
        if (opener?.isConnected) opener.focus();
        if (document.activeElement === document.body) document.querySelector('h1')?.focus();
      });
    },
    [opener],
  );
}
