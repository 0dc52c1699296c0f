import { Code, Menu, Text } from '@mantine/core';
import { useDates } from '../../components/dates.ts';
import { RowMenu } from '../../components/row-menu.tsx';
import type { BulkAction } from '../../components/table/bulk/bulk-action.ts';
import type { Column } from '../../components/table/column.ts';
import { apiKeysTexts } from '../../messages/api-keys.ts';
import { SEPARATOR } from '../../messages/language.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { getAccountName } from './account-name.ts';
import { Name } from '../../components/name.tsx';

export type ListedKey = Outputs['operator']['keys']['keys'][number];

const words = areaTexts.keys;

/** The columns of the keys of an account or a team. */
export const listedKeyColumns: readonly Column<ListedKey>[] = [
  {
    id: 'key',
    title: apiKeysTexts.key,
    value: ({ name }) => name,
    cell: (key) => <KeyCell apiKey={key} />,
    search: ({ name, id, last4, scopes }) => `${name} ${id} ${last4} ${scopes.join(' ')}`,
  },
  { id: 'id', title: 'ID', value: ({ id }) => id, cell: ({ id }) => id, isExportOnly: true },
  {
    id: 'creator',
    title: apiKeysTexts.creator,
    value: ({ account }) => getAccountName(account),
    search: ({ account, team }) => `${getAccountName(account)} ${account.email ?? ''} ${team?.name ?? ''}`,
    cell: ({ account, team }) => (
      <Text size="sm" className="wrap">
        <Name>{getAccountName(account)}</Name>
        {SEPARATOR}
        {team === null ? words.personal : words.team(team.name)}
      </Text>
    ),
    width: '22%',
  },
  {
    id: 'created',
    title: apiKeysTexts.createdColumn,
    value: ({ createdAt }) => createdAt,
    cell: (key) => <Created apiKey={key} />,
    width: '14%',
    isLabelled: true,
  },
  {
    id: 'used',
    title: apiKeysTexts.usedColumn,
    value: ({ lastUsedAt }) => lastUsedAt,
    cell: (key) => <Used apiKey={key} />,
    width: '17%',
  },
  {
    id: 'expires',
    title: apiKeysTexts.expiry,
    value: ({ expiresAt }) => expiresAt,
    cell: (key) => <End apiKey={key} />,
    width: '14%',
    isLabelled: true,
  },
  {
    id: 'scopes',
    title: apiKeysTexts.scopes,
    value: ({ scopes }) => scopes.join(' '),
    cell: ({ scopes }) => scopes.join(' '),
    isExportOnly: true,
  },
];

export const operatorKeyRevocation: BulkAction<ListedKey> = {
  id: 'revoke',
  ...apiKeysTexts.bulkRevoke,
  color: 'red',
  applies: () => true,
  call: ({ id }) => trpc.operator.revokeKey.mutate({ keyId: id }),
};

type CellProps = { readonly apiKey: ListedKey };

function Created({ apiKey: { createdAt } }: CellProps) {
  const { day } = useDates();
  return <Text size="sm">{day(createdAt)}</Text>;
}

function Used({ apiKey: { lastUsedAt } }: CellProps) {
  const { minute } = useDates();
  return (
    <Text size="sm" className="sentence">
      {lastUsedAt === null ? apiKeysTexts.unused : apiKeysTexts.used(minute(lastUsedAt))}
    </Text>
  );
}

function End({ apiKey: { expiresAt } }: CellProps) {
  const { day } = useDates();
  return expiresAt !== null && <Text size="sm">{day(expiresAt)}</Text>;
}

const KeyCell = ({ apiKey: { name, keyPrefix, last4, scopes } }: CellProps) => (
  <>
    <Text fw={600} size="sm" className="wrap">
      <Name>{name}</Name>
    </Text>
    <Code className="wrap">{`${keyPrefix}…${last4}`}</Code>
    <Text size="xs" c="dimmed" className="wrap">
      {scopes.join(' ')}
    </Text>
  </>
);

export const ListedKeyMenu = ({ apiKey: { id, name }, onRevoke }: CellProps & { readonly onRevoke: () => void }) => (
  <RowMenu name={name} id={id}>
    <Menu.Item className="data-danger" onClick={onRevoke} aria-label={words.revokeOf(name)}>
      {words.revoke}
    </Menu.Item>
  </RowMenu>
);
