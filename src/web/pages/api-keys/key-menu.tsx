import { Menu } from '@mantine/core';
import { RowMenu } from '../../components/row-menu.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { isExpired, type Key } from './keys.ts';

export type KeyAction = 'usage' | 'rename' | 'scopes' | 'rotate' | 'revoke';

type KeyMenuProps = { readonly apiKey: Key; readonly onAction: (action: KeyAction) => void };

/** What the user can do with a key. Keys of others can be looked at and revoked. */
export function KeyMenu({ apiKey, onAction }: KeyMenuProps) {
  const { id, name, isOwn } = apiKey;
  const item = (action: KeyAction, label: string, of: string) => (
    <Menu.Item
      {...(action === 'revoke' && { className: 'data-danger' })}
      onClick={() => onAction(action)}
      aria-label={of}
    >
      {label}
    </Menu.Item>
  );
  return (
    <RowMenu name={name} id={id}>
      {item('usage', words.usage, words.usageOf(name))}
      {isOwn && item('rename', words.rename, words.renameOf(name))}
      {isOwn && item('scopes', words.change, words.changeOf(name))}
      {isOwn && !isExpired(apiKey) && item('rotate', words.rotate, words.rotateOf(name))}
      {item('revoke', words.revoke, words.revokeOf(name))}
    </RowMenu>
  );
}
