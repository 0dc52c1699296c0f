import { useRevokeApiKey } from '#client/react';
import { Code, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { Confirmation } from '../../components/confirmation.tsx';
import { useDates } from '../../components/dates.ts';
import { useNotice } from '../../components/notices.tsx';
import { RowButton } from '../../components/row-button.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { scopeTexts } from '../../messages/oauth.ts';
import { ChangeScopes } from './change-scopes.tsx';
import { KeyUsage } from './key-usage.tsx';
import { getCreatorName, isExpired, type Key } from './keys.ts';
import { RenameKey } from './rename-key.tsx';
import { RotateKey } from './rotate-key.tsx';

/** The name, secret and scopes of a key, and what the user can do with it. */
export function KeyCell({ apiKey }: { readonly apiKey: Key }) {
  const { name, scopes, previousSecretUntil } = apiKey;
  const { minute } = useDates();
  return (
    <>
      <Text fw={600} size="sm" component="h2" className="wrap">
        <bdi>{name}</bdi>
      </Text>
      <Code className="key-mark">{`${apiKey.keyPrefix}…${apiKey.last4}`}</Code>
      {previousSecretUntil !== null && <Text size="sm">{words.previous(minute(previousSecretUntil))}</Text>}
      <details className="key-scopes">
        <summary aria-label={`${words.scopeCount(scopes.length)}: ${name}`}>{words.scopeCount(scopes.length)}</summary>
        <ul className="facts" aria-label={words.scopesOf(name)}>
          {scopes.map((scope) => (
            <li key={scope}>
              {scopeTexts[scope]} <code>{scope}</code>
            </li>
          ))}
        </ul>
      </details>
      <KeyButtons apiKey={apiKey} />
    </>
  );
}

type Open = 'usage' | 'rename' | 'scopes' | 'rotate' | 'revoke';

function KeyButtons({ apiKey }: { readonly apiKey: Key }) {
  const { name, isOwn, lastUsedAt } = apiKey;
  const { minute } = useDates();
  const [open, setOpen] = useState<Open>();
  const revoke = useRevokeApiKey(apiKey.teamId);
  const notify = useNotice();
  const dialog = { apiKey, onClose: () => setOpen(undefined) };
  const use = lastUsedAt === null ? words.unused : words.used(minute(lastUsedAt));
  const explanation = words.revokeExplanation({ key: name, use });
  const button = (which: Open, label: string, of: string) => (
    <RowButton {...(which === 'revoke' && { color: 'red' })} onClick={() => setOpen(which)} aria-label={of}>
      {label}
    </RowButton>
  );
  return (
    <Group gap={0} className="key-buttons">
      {button('usage', words.usage, words.usageOf(name))}
      {isOwn && button('rename', words.rename, words.renameOf(name))}
      {isOwn && button('scopes', words.change, words.changeOf(name))}
      {isOwn && !isExpired(apiKey) && button('rotate', words.rotate, words.rotateOf(name))}
      {button('revoke', words.revoke, words.revokeOf(name))}
      {open === 'usage' && <KeyUsage {...dialog} />}
      {open === 'rename' && <RenameKey {...dialog} />}
      {open === 'scopes' && <ChangeScopes {...dialog} />}
      {open === 'rotate' && <RotateKey {...dialog} />}
      {open === 'revoke' && (
        <Confirmation
          title={words.revokeTitle}
          explanation={isOwn ? explanation : `${words.revokeForeign(getCreatorName(apiKey))} ${explanation}`}
          submit={words.revoke}
          call={() => revoke.mutateAsync({ keyId: apiKey.id })}
          onSuccess={() => {
            dialog.onClose();
            notify(words.revoked);
          }}
          onClose={dialog.onClose}
        />
      )}
    </Group>
  );
}
