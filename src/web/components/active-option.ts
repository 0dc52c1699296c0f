import { useEffect } from 'react';

type Options = { readonly selectFirstOption: () => unknown; readonly resetSelectedOption: () => void };

/** Marks the first option that a search finds, so that Enter chooses it. Without a search or a result, none is marked. */
export function useFirstOption(
  { selectFirstOption, resetSelectedOption }: Options,
  search: string,
  found: number,
): void {
  const isMarked = search.trim() !== '' && found > 0;
  useEffect(() => {
    if (isMarked) selectFirstOption();
    else resetSelectedOption();
  }, [isMarked, search, found, selectFirstOption, resetSelectedOption]);
}

/**
 * Keeps `aria-activedescendant` of a combobox at the option that Enter chooses. Mantine sets it for arrow keys only, so
 * that typing afterwards would leave it at an option that is no longer marked, or no longer there.
 * @param element contains the field and its options
 * @returns what ends it, as React expects of a `ref`
 */
export function followActiveOption(element: HTMLElement | null): (() => void) | undefined {
  if (element === null) return undefined;
  const update = () => {
    const field = element.querySelector('input[aria-haspopup="listbox"]');
    const id = element.querySelector('[role="option"][data-combobox-selected]')?.id ?? '';
    if (field === null || (field.getAttribute('aria-activedescendant') ?? '') === id) return;
    if (id === '') field.removeAttribute('aria-activedescendant');
    else field.setAttribute('aria-activedescendant', id);
  };
  const observer = new MutationObserver(update);
  observer.observe(element, {
    subtree: true,
    childList: true,
    attributeFilter: ['data-combobox-selected', 'aria-activedescendant'],
  });
  return () => observer.disconnect();
}
