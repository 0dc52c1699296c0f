import { useLocalStorage } from '@mantine/hooks';
import { useNavigate, useParams } from '@tanstack/react-router';
import { lazy, useEffect, useEffectEvent, useRef } from 'react';
import { LoadedDialog } from './loaded-dialog.tsx';
import { PLACES, TEAM_PLACES } from './shortcut-targets.ts';

const ShortcutsDialog = lazy(async () => ({ default: (await import('./shortcuts-dialog.tsx')).ShortcutsDialog }));

const SEQUENCE_MS = 1500;

type ShortcutsProps = { readonly isOpen: boolean; readonly onOpen: () => void; readonly onClose: () => void };

/** Handles the keyboard shortcuts of the console, and lists them with `?`. Users can disable them (WCAG 2.1.4). */
export function Shortcuts({ isOpen, onOpen, onClose }: ShortcutsProps) {
  const [isOn, setOn] = useLocalStorage({
    key: 'roster-shortcuts',
    defaultValue: true,
    getInitialValueInEffect: false,
  });
  const open = useEffectEvent(onOpen);
  const navigate = useNavigate();
  const { teamId } = useParams({ strict: false });
  const began = useRef(0);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target)) return;
      const follows = Date.now() - began.current < SEQUENCE_MS;
      began.current = 0;
      if (event.key === '?') open();
      else if (!isOn) return;
      else if (follows && isIn(PLACES, event.key)) void navigate({ to: PLACES[event.key] });
      else if (follows && teamId !== undefined && isIn(TEAM_PLACES, event.key)) {
        void navigate({ to: TEAM_PLACES[event.key], params: { teamId } });
      } else if (event.key === 'g') began.current = Date.now();
      else if (event.key === '/') focusSearch(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [isOn, navigate, teamId]);

  return (
    isOpen && (
      <LoadedDialog onClose={onClose}>
        <ShortcutsDialog isOn={isOn} onChange={setOn} onClose={onClose} />
      </LoadedDialog>
    )
  );
}

const isIn = <Places extends object>(places: Places, key: string): key is keyof Places & string => key in places;

/** Whether a field or a dialog handles the keys. */
const isBusy = (target: EventTarget | null): boolean =>
  (target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))) ||
  document.querySelector('[role="dialog"]') !== null;

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
  if (field === null) return;
  event.preventDefault();
  field.focus();
}
