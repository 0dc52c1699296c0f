import { Code, Group, Text } from '@mantine/core';
import { useDates } from '../../components/dates.ts';
import { RowButton } from '../../components/row-button.tsx';
import type { BulkAction } from '../../components/table/bulk/bulk-action.ts';
import type { Column } from '../../components/table/column.ts';
import { apiKeysTexts } from '../../messages/api-keys.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { SEPARATOR } from '../../messages/language.ts';

export type OperatorKey = Outputs['operator']['listOperatorKeys']['keys'][number];
export type KeyDialog = 'rotate' | 'revoke';

const words = areaTexts.operatorKeys;

const time = (id: 'createdAt' | 'lastUsedAt' | 'expiresAt', title: string, none: string): Column<OperatorKey> => ({
  id,
  title,
  value: (key) => key[id],
  cell: (key) => <Time at={key[id]} none={none} isDay={id !== 'lastUsedAt'} />,
  width: '14%',
  isLabelled: true,
});

/** Returns the columns of the operator keys, with the buttons of each. */
export const operatorKeyColumns = (
  ask: (kind: KeyDialog, key: OperatorKey) => void,
): readonly Column<OperatorKey>[] => [
  {
    id: 'key',
    title: apiKeysTexts.key,
    value: ({ name }) => name,
    cell: (key) => <KeyCell operatorKey={key} ask={ask} />,
    search: ({ name, last4, scopes }) => `${name} ${last4} ${scopes.join(' ')}`,
  },
  { id: 'id', title: 'ID', value: ({ id }) => id, cell: () => null, isExportOnly: true },
  {
    id: 'addresses',
    title: words.addressColumn,
    value: ({ addresses }) => (addresses.length === 0 ? words.everywhere : addresses.join(SEPARATOR)),
    cell: ({ addresses }) => (
      <Text size="sm" className="wrap">
        {addresses.length === 0 ? words.everywhere : addresses.join(SEPARATOR)}
      </Text>
    ),
    search: ({ addresses }) => addresses.join(' '),
    width: '20%',
  },
  time('createdAt', apiKeysTexts.createdColumn, ''),
  time('lastUsedAt', apiKeysTexts.usedColumn, apiKeysTexts.unused),
  time('expiresAt', apiKeysTexts.expiry, apiKeysTexts.endless),
  {
    id: 'scopes',
    title: apiKeysTexts.scopes,
    value: ({ scopes }) => scopes.join(' '),
    cell: () => null,
    isExportOnly: true,
  },
];

export const operatorKeyBulk: readonly BulkAction<OperatorKey>[] = [
  {
    id: 'revoke',
    ...apiKeysTexts.bulkRevoke,
    color: 'red',
    applies: () => true,
    call: ({ id }) => trpc.operator.revokeOperatorKey.mutate({ keyId: id }),
  },
];

type TimeProps = { readonly at: string | null; readonly none: string; readonly isDay: boolean };

function Time({ at, none, isDay }: TimeProps) {
  const { day, minute } = useDates();
  return (
    <Text size="sm" className="wrap">
      {at === null ? none : <time dateTime={at}>{(isDay ? day : minute)(at)}</time>}
    </Text>
  );
}

type KeyCellProps = { readonly operatorKey: OperatorKey; readonly ask: (kind: KeyDialog, key: OperatorKey) => void };

const KeyCell = ({ operatorKey, ask }: KeyCellProps) => (
  <>
    <Text fw={600} size="sm" className="wrap">
      <bdi>{operatorKey.name}</bdi>
    </Text>
    <Code className="wrap">{`${operatorKey.keyPrefix}…${operatorKey.last4}`}</Code>
    <Text size="xs" c="dimmed" className="wrap">
      {operatorKey.scopes.join(' ')}
    </Text>
    <Group gap={0} className="operator-row-button">
      <RowButton onClick={() => ask('rotate', operatorKey)} aria-label={words.rotateOf(operatorKey.name)}>
        {words.rotate}
      </RowButton>
      <RowButton
        color="red"
        onClick={() => ask('revoke', operatorKey)}
        aria-label={areaTexts.keys.revokeOf(operatorKey.name)}
      >
        {areaTexts.keys.revoke}
      </RowButton>
    </Group>
  </>
);
