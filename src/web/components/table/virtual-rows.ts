import { defaultRangeExtractor, useWindowVirtualizer, type Range } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

/** Up to so many rows are all in the page, so that the browser’s search finds them. */
const ALL_UP_TO = 100;

const HEIGHT = 62;
const CARD_HEIGHT = 132;
const CARD_BELOW = 704;

/** Renders the rows in and near the window, and the one with the focus. All of them for printing. */
export function useVirtualRows(count: number, keyOf: (index: number) => string) {
  const table = useRef<HTMLTableElement>(null);
  const [top, setTop] = useState(0);
  const [focused, setFocused] = useState<number>();
  const isPrinting = usePrinting();
  const isComplete = count <= ALL_UP_TO || isPrinting;

  // What stands above the table can change its height.
  // eslint-disable-next-line react/exhaustive-deps -- after each render, and the same position renders nothing
  useLayoutEffect(() => {
    const body = table.current?.tBodies[0];
    if (body) setTop(Math.round(body.getBoundingClientRect().top + window.scrollY));
  });
  const rangeExtractor = (range: Range): number[] => {
    if (isComplete) return Array.from({ length: count }, (_, index) => index);
    const near = defaultRangeExtractor(range);
    const isFar = focused !== undefined && focused < count && !near.includes(focused);
    return isFar ? [...near, focused].sort((a, b) => a - b) : near;
  };
  // eslint-disable-next-line react/incompatible-library -- the library is for components that nothing memoizes
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count,
    getItemKey: keyOf,
    estimateSize: () => ((table.current?.offsetWidth ?? window.innerWidth) < CARD_BELOW ? CARD_HEIGHT : HEIGHT),
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    overscan: 8,
    scrollMargin: top,
    rangeExtractor,
  });
  return { table, virtualizer, setFocused };
}

function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    window.addEventListener('beforeprint', begin);
    window.addEventListener('afterprint', end);
    return () => {
      window.removeEventListener('beforeprint', begin);
      window.removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}
