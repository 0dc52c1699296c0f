import { Code, Group, Text } from '@mantine/core';
import { useDates } from '../../components/dates.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { scopeTexts } from '../../messages/oauth.ts';
import type { Key } from './keys.ts';

/** The name, secret and scopes of a key. */
export function KeyCell({ apiKey }: { readonly apiKey: Key }) {
  const { name, scopes, previousSecretUntil } = apiKey;
  const { minute } = useDates();
  return (
    <>
      <Text fw={600} size="sm" component="h2" className="wrap">
        <bdi>{name}</bdi>
      </Text>
      <Group gap="0 0.75rem" align="baseline">
        <Code className="key-mark">{`${apiKey.keyPrefix}…${apiKey.last4}`}</Code>
        <details className="key-scopes">
          <summary aria-label={`${words.scopeCount(scopes.length)}: ${name}`}>
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
      </Group>
      {previousSecretUntil !== null && <Text size="sm">{words.previous(minute(previousSecretUntil))}</Text>}
    </>
  );
}
