import { ActionIcon, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { tableTexts as words } from '../../messages/table.ts';
import { More } from '../icons.tsx';

type RowMenuProps = {
  /** What the row is called. */
  readonly name: string;
  /** Finds the button of the row, which gets the focus after a dialog. */
  readonly id: string;
  readonly children: ReactNode;
};

/** The menu at the end of a row. */
export const RowMenu = ({ name, id, children }: RowMenuProps) => (
  <Menu
    position="bottom-end"
    width={220}
    withinPortal={false}
    floatingStrategy="fixed"
    withInitialFocusPlaceholder={false}
    transitionProps={{ duration: 80 }}
  >
    <Menu.Target>
      <ActionIcon variant="subtle" color="gray" size="lg" data-row={id} aria-label={words.actionsOf(name)}>
        <More />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
);

/** Focuses the button that opened a dialog, or the heading if its row was removed. */
export const focusRow = (id: string): void =>
  (document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`) ?? document.querySelector('h1'))?.focus();
