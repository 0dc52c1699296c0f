import { ActionIcon, Menu } from '@mantine/core';
import { More } from '../../../components/icons.tsx';
import { membersTexts as words } from '../../../messages/members.ts';
import { getMemberName, type Action, type Member } from './member.ts';

const getActionLabel = (action: Action, { expiresAt }: Member): string =>
  action === 'expiry' ? (expiresAt === null ? words.setExpiry : words.changeExpiry) : LABELS[action];

const LABELS: Readonly<Record<Exclude<Action, 'expiry'>, string>> = {
  role: words.changeRole,
  endless: words.removeExpiry,
  activate: words.activate,
  deactivate: words.deactivate,
  offer: words.offer,
  remove: words.remove,
};

type MemberMenuProps = {
  readonly member: Member;
  readonly actions: readonly Action[];
  readonly onAction: (action: Action) => void;
};

export const MemberMenu = ({ member, actions, onAction }: MemberMenuProps) => (
  <Menu
    position="bottom-end"
    width={220}
    withinPortal={false}
    floatingStrategy="fixed"
    withInitialFocusPlaceholder={false}
    transitionProps={{ duration: 80 }}
  >
    <Menu.Target>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        data-member={member.membershipId}
        aria-label={words.actionsOf(getMemberName(member))}
      >
        <More />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>
      {actions.map((action) => (
        <Menu.Item
          key={action}
          {...(action === 'remove' && { className: 'data-danger' })}
          onClick={() => onAction(action)}
        >
          {getActionLabel(action, member)}
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
);

/** Focuses the button that opened a dialog, or the heading if its row was removed. */
export const focusMenu = ({ membershipId }: Member): void =>
  (document.querySelector<HTMLElement>(`[data-member="${membershipId}"]`) ?? document.querySelector('h1'))?.focus();
