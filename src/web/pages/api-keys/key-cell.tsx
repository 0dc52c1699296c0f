import { Code, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useDates } from '../../components/dates.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { scopeTexts } from '../../messages/oauth.ts';
import { permissionsQuery } from '../../page-queries.ts';
import { permissionsTexts } from '../../messages/permissions.ts';
import type { Key } from './keys.ts';
import { Name } from '../../components/name.tsx';
import { neutralize } from '../../../messages/neutralize.ts';

/** The name, secret and scopes of a key. */
export function KeyCell({ apiKey }: { readonly apiKey: Key }) {
  const { name, scopes, permissions, previousSecretUntil } = apiKey;
  const { minute } = useDates();
  return (
    <>
      <Text fw={600} size="sm" component="h2" className="wrap">
        <Name>{name}</Name>
      </Text>
      <Group gap="0 0.75rem" align="baseline">
        <Code className="key-mark">{`${apiKey.keyPrefix}…${apiKey.last4}`}</Code>
        {scopes.length > 0 && (
          <details className="key-scopes">
            <summary aria-label={`${words.scopeCount(scopes.length)}: ${neutralize(name)}`}>
              {words.scopeCount(scopes.length)}
            </summary>
            <ul className="facts" aria-label={words.scopesOf(name)}>
              {scopes.map((scope) => (
                <li key={scope}>
                  {scopeTexts[scope]} <code>{scope}</code>
                </li>
              ))}
            </ul>
          </details>
        )}
        {permissions.length > 0 && <KeyPermissions apiKey={apiKey} />}
      </Group>
      {previousSecretUntil !== null && <Text size="sm">{words.previous(minute(previousSecretUntil))}</Text>}
    </>
  );
}

/** What the key can do in the product. */
function KeyPermissions({ apiKey: { name, permissions } }: { readonly apiKey: Key }) {
  const declared = useQuery(permissionsQuery());
  const titles = new Map(declared.data?.map((each) => [each.name, each.title]));
  const count = permissionsTexts.count(permissions.length);
  return (
    <details className="key-scopes">
      <summary aria-label={`${count}: ${neutralize(name)}`}>{count}</summary>
      <ul className="facts" aria-label={words.permissionsOf(name)}>
        {permissions.map((permission) => (
          <li key={permission}>
            {titles.has(permission) && <bdi>{titles.get(permission)}</bdi>} <code>{permission}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}
