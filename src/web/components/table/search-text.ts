import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

/** The URL follows the text when typing pauses: browsers limit how often it can change. */
const PAUSE_MS = 250;

/** Returns the text of the search field, which is shown at once, and written to the URL after a pause. */
export function useSearchText(inUrl: string, write: (text: string) => void) {
  const [text, setText] = useState(inUrl);
  const written = useRef(inUrl);
  const writeLater = useDebouncedCallback((next: string) => {
    written.current = next;
    write(next);
  }, PAUSE_MS);
  // Follows a link to the same page with another search, but not the echo of what was typed.
  useEffect(() => {
    if (inUrl === written.current) return;
    written.current = inUrl;
    setText(inUrl);
  }, [inUrl]);
  return [
    text,
    (next: string) => {
      setText(next);
      writeLater(next);
    },
  ] as const;
}
