import { Code, Menu, Text } from '@mantine/core';
import { useDates } from '../../components/dates.ts';
import { RowMenu } from '../../components/row-menu.tsx';
import type { BulkAction } from '../../components/table/bulk/bulk-action.ts';
import type { Column } from '../../components/table/column.ts';
import { apiKeysTexts } from '../../messages/api-keys.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { isolateName } from '../../messages/isolate.ts';
import { SEPARATOR } from '../../messages/language.ts';
import { Name } from '../../components/name.tsx';

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

export const operatorKeyColumns: readonly Column<OperatorKey>[] = [
  {
    id: 'key',
    title: apiKeysTexts.key,
    value: ({ name }) => name,
    cell: (key) => <KeyCell operatorKey={key} />,
    search: ({ name, last4, scopes }) => `${name} ${last4} ${scopes.join(' ')}`,
  },
  { id: 'id', title: 'ID', value: ({ id }) => id, cell: () => null, isExportOnly: true },
  {
    id: 'addresses',
    title: words.addressColumn,
    value: ({ addresses }) => (addresses.length === 0 ? words.everywhere : addresses.join(SEPARATOR)),
    cell: ({ addresses }) => (
      <Text size="sm" className="wrap">
        {addresses.length === 0 ? words.everywhere : addresses.map(isolateName).join(SEPARATOR)}
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
    <Text size="sm" className="wrap sentence">
      {at === null ? none : <time dateTime={at}>{(isDay ? day : minute)(at)}</time>}
    </Text>
  );
}

const KeyCell = ({ operatorKey }: { readonly operatorKey: OperatorKey }) => (
  <>
    <Text fw={600} size="sm" className="wrap">
      <Name>{operatorKey.name}</Name>
    </Text>
    <Code className="wrap">{`${operatorKey.keyPrefix}…${operatorKey.last4}`}</Code>
    <Text size="xs" c="dimmed" className="wrap">
      {operatorKey.scopes.join(' ')}
    </Text>
  </>
);

type OperatorKeyMenuProps = {
  readonly operatorKey: OperatorKey;
  readonly onAction: (kind: KeyDialog, key: OperatorKey) => void;
};

export const OperatorKeyMenu = ({ operatorKey, onAction }: OperatorKeyMenuProps) => (
  <RowMenu name={operatorKey.name} id={operatorKey.id}>
    <Menu.Item onClick={() => onAction('rotate', operatorKey)} aria-label={words.rotateOf(operatorKey.name)}>
      {words.rotate}
    </Menu.Item>
    <Menu.Item
      className="data-danger"
      onClick={() => onAction('revoke', operatorKey)}
      aria-label={areaTexts.keys.revokeOf(operatorKey.name)}
    >
      {areaTexts.keys.revoke}
    </Menu.Item>
  </RowMenu>
);
