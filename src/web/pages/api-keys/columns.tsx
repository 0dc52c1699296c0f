import { Badge, Text } from '@mantine/core';
import type { Column } from '../../components/table/column.ts';
import { useDates } from '../../components/dates.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { membersTexts } from '../../messages/members.ts';
import { KeyCell } from './key-cell.tsx';
import { getCreatorName, getKeyState, type Key } from './keys.ts';

const STATES = Object.entries(words.states).map(([value, label]) => ({ value, label }));

/** The columns of the keys of an account or a team. */
export const keyColumns: readonly Column<Key>[] = [
  {
    id: 'key',
    title: words.key,
    value: ({ name }) => name,
    cell: (key) => <KeyCell apiKey={key} />,
    search: (key) => `${key.name} ${key.keyPrefix} ${key.last4} ${key.teamId === null ? '' : getCreatorName(key)}`,
  },
  { id: 'creator', title: words.creator, value: getCreatorName, cell: getCreatorName, isExportOnly: true },
  {
    id: 'created',
    title: words.createdColumn,
    value: ({ createdAt }) => createdAt,
    cell: (key) => <Created apiKey={key} />,
    width: '18%',
    isLabelled: true,
  },
  {
    id: 'used',
    title: words.usedColumn,
    value: ({ lastUsedAt }) => lastUsedAt,
    cell: (key) => <Used apiKey={key} />,
    width: '18%',
  },
  {
    id: 'expires',
    title: words.expiry,
    value: ({ expiresAt }) => expiresAt,
    cell: (key) => <End apiKey={key} />,
    filter: { label: membersTexts.state, options: STATES, value: getKeyState },
    width: '18%',
  },
  {
    id: 'scopes',
    title: words.scopes,
    value: ({ scopes }) => scopes.join(' '),
    cell: ({ scopes }) => scopes.join(' '),
    isExportOnly: true,
  },
  {
    id: 'permissions',
    title: words.permissions,
    value: ({ permissions }) => permissions.join(' '),
    cell: ({ permissions }) => permissions.join(' '),
    isExportOnly: true,
  },
];

type CellProps = { readonly apiKey: Key };

function Created({ apiKey }: CellProps) {
  const { day } = useDates();
  const date = day(apiKey.createdAt);
  return (
    <Text size="sm" className="wrap">
      {apiKey.teamId === null ? date : words.createdBy({ date, person: getCreatorName(apiKey) })}
    </Text>
  );
}

function Used({ apiKey: { lastUsedAt } }: CellProps) {
  const { minute } = useDates();
  return (
    <Text size="sm" className="sentence">
      {lastUsedAt === null ? words.unused : words.used(minute(lastUsedAt))}
    </Text>
  );
}

/** When the key expires, with a warning in the last two weeks. */
function End({ apiKey }: CellProps) {
  const { day } = useDates();
  const state = getKeyState(apiKey);
  if (apiKey.expiresAt === null)
    return (
      <Text size="sm" className="sentence">
        {words.endless}
      </Text>
    );
  return (
    <>
      <Text size="sm" className="sentence">
        {(state === 'expired' ? words.expiredOn : words.expires)(day(apiKey.expiresAt))}
      </Text>
      {state !== 'active' && (
        <Badge variant="light" color={state === 'expired' ? 'red' : 'yellow'} tt="none">
          {words.states[state]}
        </Badge>
      )}
    </>
  );
}
