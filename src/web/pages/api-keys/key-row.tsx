import { Badge, Code, Group, Text } from '@mantine/core';
import { RowButton } from '../../components/row-button.tsx';
import { useState } from 'react';
import { Confirmation } from '../../components/confirmation.tsx';
import { useDates } from '../../components/dates.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { scopeTexts } from '../../messages/oauth.ts';
import { ChangeScopes } from './change-scopes.tsx';
import { isExpired, getCreatorName, type Key } from './keys.ts';
import { useRevocation } from './revocation.ts';
import { RotateKey } from './rotate-key.tsx';

export function KeyRow({ apiKey }: { readonly apiKey: Key }) {
  const { name, isOwn, lastUsedAt } = apiKey;
  const { minute } = useDates();
  const [dialog, setDialog] = useState<'scopes' | 'rotate' | 'revoke'>();
  const { revoke, remove } = useRevocation(apiKey.teamId ?? undefined);
  const close = () => setDialog(undefined);
  const use = lastUsedAt === null ? words.unused : words.used(minute(lastUsedAt));
  const explanation = words.revokeExplanation({ key: name, use });
  return (
    <li className="row row-high">
      <div className="row-head">
        <div className="row-text">
          <Group gap="xs">
            <Text fw={600} component="h2" className="wrap">
              <bdi>{name}</bdi>
            </Text>
            {isExpired(apiKey) && (
              <Badge variant="light" color="red" tt="none">
                {words.expired}
              </Badge>
            )}
          </Group>
          <Code className="key-mark">{`${apiKey.keyPrefix}…${apiKey.last4}`}</Code>
        </div>
        <Group gap={4}>
          {isOwn && (
            <RowButton onClick={() => setDialog('scopes')} aria-label={words.changeOf(name)}>
              {words.change}
            </RowButton>
          )}
          {isOwn && !isExpired(apiKey) && (
            <RowButton onClick={() => setDialog('rotate')} aria-label={words.rotateOf(name)}>
              {words.rotate}
            </RowButton>
          )}
          <RowButton color="red" onClick={() => setDialog('revoke')} aria-label={words.revokeOf(name)}>
            {words.revoke}
          </RowButton>
        </Group>
      </div>
      <Facts apiKey={apiKey} use={use} />
      {dialog === 'scopes' && <ChangeScopes apiKey={apiKey} onClose={close} />}
      {dialog === 'rotate' && <RotateKey apiKey={apiKey} onClose={close} />}
      {dialog === 'revoke' && (
        <Confirmation
          title={words.revokeTitle}
          explanation={isOwn ? explanation : `${words.revokeForeign(getCreatorName(apiKey))} ${explanation}`}
          submit={words.revoke}
          call={() => revoke(apiKey)}
          onSuccess={() => {
            close();
            remove(apiKey);
          }}
          onClose={close}
        />
      )}
    </li>
  );
}

function Facts({ apiKey, use }: { readonly apiKey: Key; readonly use: string }) {
  const { day, minute } = useDates();
  const { name, scopes, teamId, createdAt, expiresAt, previousSecretUntil } = apiKey;
  const created =
    teamId === null
      ? words.created(day(createdAt))
      : words.createdBy({ date: day(createdAt), person: getCreatorName(apiKey) });
  const end =
    expiresAt === null ? words.endless : (isExpired(apiKey) ? words.expiredOn : words.expires)(day(expiresAt));
  return (
    <>
      <Text size="sm" c="dimmed" mt="xs" className="wrap">
        {created}, {use}, {end}
      </Text>
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
    </>
  );
}
