import { ActionIcon, Menu, type MenuItemProps } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { Bell, Key, People, Switch } from '../components/icons.tsx';
import { getTeamName } from '../components/display-name.ts';
import { frameTexts } from '../messages/frame.ts';
import { noticesQuery } from '../page-queries.ts';
import type { Outputs } from '../trpc.ts';

const words = frameTexts.notices;

type Notice = Outputs['teams']['notices'][number];

type ItemProps = MenuItemProps & Omit<ComponentProps<'a'>, keyof MenuItemProps>;

const MenuLink = createLink((props: ItemProps) => <Menu.Item component="a" {...props} />);

type NoticeMenuProps = { readonly position: 'top-end' | 'bottom-end' };

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

function NoticeItem({ kind, team, count }: Notice) {
  const expiring = { expires: 'expiring' };
  if (team === null)
    return (
      <MenuLink to="/api-keys" search={expiring} leftSection={<Key size={18} />}>
        {words.ownKeys(count)}
      </MenuLink>
    );
  const params = { teamId: team.slug };
  const name = getTeamName(team);
  if (kind === 'keys')
    return (
      <MenuLink to="/teams/$teamId/api-keys" params={params} search={expiring} leftSection={<Key size={18} />}>
        {words.keys({ count, team: name })}
      </MenuLink>
    );
  return kind === 'ownership' ? (
    <MenuLink to="/teams/$teamId/members" params={params} leftSection={<Switch size={18} />}>
      {words.ownership(name)}
    </MenuLink>
  ) : (
    <MenuLink to="/teams/$teamId" params={params} leftSection={<People size={18} />}>
      {words.seats({ count, team: name })}
    </MenuLink>
  );
}
