import { Stack } from '@mantine/core';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type MouseEvent, type ReactNode } from 'react';
import { texts } from '../messages/console.ts';
import './sections.css';

/** A section as the list beside the page shows it. `id` is its fragment of the URL. */
type Entry = { readonly id: string; readonly title: string };

type SectionsProps = { readonly entries: readonly Entry[]; readonly children: ReactNode };

/** The sections of a long page, with a list of links to them. The router scrolls to one and focuses it. */
export function Sections({ entries, children }: SectionsProps) {
  const current = useSectionInView(entries);
  const navigate = useNavigate();
  return (
    <div className="sections">
      <nav aria-label={texts.onThisPage} className="section-nav">
        {entries.map(({ id, title }) => (
          <a
            key={id}
            href={`#${id}`}
            // A link of the router would be marked by the fragment, not by what is in the window.
            aria-current={id === current ? 'location' : undefined}
            onClick={(event) => {
              if (isModified(event)) return;
              event.preventDefault();
              void navigate({ to: '.', search: true, hash: id });
            }}
          >
            {title}
          </a>
        ))}
      </nav>
      <Stack gap="lg">{children}</Stack>
    </div>
  );
}

/** Whether a click opens a link in another tab or window. */
const isModified = ({ metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean =>
  metaKey || ctrlKey || shiftKey || altKey;

/** The distance from the top of the window, in pixels, at which a section is the one that is read. */
const READ_AT = 128;

/** Returns the id of the section that the URL names while it begins in the window, else of the one at its top. */
function useSectionInView(entries: readonly Entry[]): string | undefined {
  const [current, setCurrent] = useState(entries[0]?.id);
  const { hash } = useLocation();
  useEffect(() => {
    const look = () => {
      const begins = (id: string, before: number) => {
        const top = document.getElementById(id)?.getBoundingClientRect().top;
        return top !== undefined && top < before ? top : undefined;
      };
      const named = begins(hash, window.innerHeight);
      const isNamed = named !== undefined && named >= 0 && entries.some(({ id }) => id === hash);
      const begun = entries.findLast(({ id }) => begins(id, READ_AT) !== undefined);
      setCurrent(isNamed ? hash : (begun ?? entries[0])?.id);
    };
    look();
    window.addEventListener('scroll', look, { passive: true });
    return () => window.removeEventListener('scroll', look);
  }, [entries, hash]);
  return current;
}
