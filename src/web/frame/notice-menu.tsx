import { ActionIcon, Menu, type MenuItemProps } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { Bell } from '../components/icons.tsx';
import { describeNotice } from '../components/notice.ts';
import { frameTexts } from '../messages/frame.ts';
import { noticesQuery } from '../page-queries.ts';
import type { Outputs } from '../trpc.ts';

const words = frameTexts.notices;

type Notice = Outputs['teams']['notices'][number];

type ItemProps = MenuItemProps & Omit<ComponentProps<'a'>, keyof MenuItemProps>;

const MenuLink = createLink((props: ItemProps) => <Menu.Item component="a" {...props} />);

type NoticeMenuProps = { readonly position: 'bottom-start' | 'bottom-end' };

/** What waits for the user in any team, with a link to where it can be done. */
export function NoticeMenu({ position }: NoticeMenuProps) {
  const { data: notices = [] } = useQuery(noticesQuery());
  return (
    <Menu
      position={position}
      withinPortal={false}
      width={260}
      shadow="md"
      withInitialFocusPlaceholder={false}
      transitionProps={{ duration: 0 }}
    >
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={words.label(notices.length)}>
          <span className="notice-bell" data-full={notices.length > 0 || undefined}>
            <Bell />
          </span>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown aria-label={words.label(notices.length)} className="notice-menu">
        {notices.length === 0 && <Menu.Item disabled>{words.none}</Menu.Item>}
        {notices.map((notice) => (
          <NoticeItem key={`${notice.kind} ${notice.team?.id}`} {...notice} />
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function NoticeItem(notice: Notice) {
  const { icon: Icon, text, link } = describeNotice(notice);
  return (
    <MenuLink {...link} leftSection={<Icon size={18} />}>
      {text}
    </MenuLink>
  );
}
