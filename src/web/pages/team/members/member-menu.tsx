import { Menu } from '@mantine/core';
import { RowMenu } from '../../../components/row-menu.tsx';
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
  <RowMenu name={getMemberName(member)} id={member.accountId}>
    {actions.map((action) => (
      <Menu.Item
        key={action}
        {...(action === 'remove' && { className: 'data-danger' })}
        onClick={() => onAction(action)}
      >
        {getActionLabel(action, member)}
      </Menu.Item>
    ))}
  </RowMenu>
);
