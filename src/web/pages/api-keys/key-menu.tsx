import { Menu } from '@mantine/core';
import { RowMenu } from '../../components/row-menu.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { useOfferedPermissions } from './offered-permissions.ts';
import { isExpired, type Key } from './keys.ts';

export type KeyAction = 'usage' | 'rename' | 'scopes' | 'permissions' | 'rotate' | 'revoke';

type KeyMenuProps = { readonly apiKey: Key; readonly onAction: (action: KeyAction) => void };

/** What the user can do with a key. Keys of others can be looked at and revoked. */
export const KeyMenu = ({ apiKey, onAction }: KeyMenuProps) => (
  <RowMenu name={apiKey.name} id={apiKey.id}>
    <Items apiKey={apiKey} onAction={onAction} />
  </RowMenu>
);

/** Rendered while the menu is open, because a page can have many keys. */
function Items({ apiKey, onAction }: KeyMenuProps) {
  const { name, isOwn } = apiKey;
  const offered = useOfferedPermissions(apiKey.teamId, apiKey.permissions);
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
    <>
      {item('usage', words.usage, words.usageOf(name))}
      {isOwn && item('rename', words.rename, words.renameOf(name))}
      {isOwn && item('scopes', words.change, words.changeOf(name))}
      {isOwn && offered.length > 0 && item('permissions', words.changePermissions, words.changePermissionsOf(name))}
      {isOwn && !isExpired(apiKey) && item('rotate', words.rotate, words.rotateOf(name))}
      {item('revoke', words.revoke, words.revokeOf(name))}
    </>
  );
}
