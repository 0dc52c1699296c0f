import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';

/** A dialog of a page that a command opens from anywhere. */
export type CommandedDialog = 'invite' | 'createKey';

declare module '@tanstack/history' {
  interface HistoryState {
    /** The dialog that the page opens. */
    readonly dialog?: CommandedDialog;
  }
}

/** Opens the dialog of the page if a command led to it, once: not again after a reload. */
export function useCommandedDialog(dialog: CommandedDialog, openDialog: () => void): void {
  const navigate = useNavigate();
  // The page before stays until the next is loaded, and is told of the same location.
  const isCommanded = useLocation({ select: ({ state }) => state.dialog === dialog });
  const open = useEffectEvent(openDialog);
  useEffect(() => {
    if (!isCommanded) return;
    open();
    void navigate({ to: '.', search: true, hash: true, state: {}, replace: true, resetScroll: false });
  }, [isCommanded, navigate]);
}
