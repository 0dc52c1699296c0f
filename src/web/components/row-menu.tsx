import { Loader, Menu } from '@mantine/core';
import { useImperativeHandle, useRef, useState, type ReactNode, type Ref, type RefObject } from 'react';
import { tableTexts as words } from '../messages/table.ts';
import { More } from './icons.tsx';
import './row-menu.css';

type RowMenuProps = {
  /** What the row is called. */
  readonly name: string;
  /** Finds the button of the row, which gets the focus after a dialog. */
  readonly id: string;
  /** Whether an action of the row runs. */
  readonly isBusy?: boolean;
  readonly children: ReactNode;
};

/** The menu at the end of a row. A closed one is only a button, because a table can have thousands. */
export function RowMenu({ name, id, isBusy = false, children }: RowMenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const label = words.actionsOf(name);
  const close = () => {
    // At once, so that a dialog of an item returns the focus to this button.
    const focused = document.activeElement;
    if (focused === document.body || focused?.closest('[role="menu"]')) button.current?.focus({ preventScroll: true });
    setOpen(false);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className="row-menu mantine-focus-auto"
        data-row={id}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-busy={isBusy}
        onClick={() => (isOpen ? close() : setOpen(true))}
      >
        {isBusy ? <Loader size="xs" /> : <More />}
      </button>
      {isOpen && (
        <Menu
          opened
          onClose={close}
          position="bottom-end"
          width={220}
          withinPortal={false}
          floatingStrategy="fixed"
          withInitialFocusPlaceholder={false}
          returnFocus={false}
          transitionProps={{ duration: 0 }}
        >
          <Menu.Target>
            <Anchor to={button} />
          </Menu.Target>
          <Menu.Dropdown aria-label={label} aria-labelledby={undefined}>
            {children}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}

type AnchorProps = { readonly to: RefObject<HTMLElement | null>; readonly ref?: Ref<HTMLElement | null> };

/** Stands for the button, which is in the page before the menu that is placed at it. */
function Anchor({ to, ref }: AnchorProps) {
  useImperativeHandle<HTMLElement | null, HTMLElement | null>(ref, () => to.current, [to]);
  return null;
}

/** Focuses the button that opened a dialog, or the heading if its row was removed. */
export const focusRow = (id: string): void =>
  (document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`) ?? document.querySelector('h1'))?.focus();
