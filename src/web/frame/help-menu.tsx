import { ActionIcon, Menu } from '@mantine/core';
import { Activity, Book, Help, Keyboard } from '../components/icons.tsx';
import { frameTexts } from '../messages/frame.ts';
import { useFrameDialogs } from '../components/frame-dialogs.ts';

const words = frameTexts.help;

/** Links to the documentation of the service, which are pages of their own. */
export function HelpMenu() {
  const openDialog = useFrameDialogs();
  return (
    <Menu
      position="bottom-start"
      withinPortal={false}
      width={220}
      shadow="md"
      withInitialFocusPlaceholder={false}
      transitionProps={{ duration: 0 }}
    >
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={words.label}>
          <Help />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown aria-label={words.label}>
        <Menu.Item leftSection={<Keyboard size={18} />} onClick={() => openDialog('shortcuts')}>
          {words.shortcuts}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item component="a" href="/docs" leftSection={<Book size={18} />}>
          {words.reference}
        </Menu.Item>
        <Menu.Item component="a" href="/problems" leftSection={<Help size={18} />}>
          {words.problems}
        </Menu.Item>
        <Menu.Item component="a" href="/docs/events" leftSection={<Activity size={18} />}>
          {words.events}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
