import { Badge, Group, Text } from '@mantine/core';
import { TextLink } from '../../components/links.tsx';
import type { BulkAction } from '../../components/table/bulk/bulk-action.ts';
import type { Column } from '../../components/table/column.ts';
import { apiKeysTexts } from '../../messages/api-keys.ts';
import { operatorTexts } from '../../messages/operator.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { getAccountName } from './account-name.ts';
import { Created } from './created.tsx';
import { Name } from '../../components/name.tsx';

export type ListedAccount = Outputs['operator']['listAccounts']['accounts'][number];

const words = areaTexts.accounts;

/** The columns of the list of accounts. */
export const accountColumns: readonly Column<ListedAccount>[] = [
  { id: 'name', title: words.by.name, value: getAccountName, cell: (account) => <AccountName account={account} /> },
  { id: 'id', title: 'ID', value: ({ id }) => id, cell: ({ id }) => id, isExportOnly: true },
  {
    id: 'lastName',
    title: words.by.lastName,
    value: ({ lastName }) => lastName,
    cell: ({ lastName }) =>
      lastName !== null && (
        <Text size="sm" className="wrap">
          <Name>{lastName}</Name>
        </Text>
      ),
    width: '14%',
    isLabelled: true,
  },
  {
    id: 'email',
    title: words.by.email,
    value: ({ email }) => email,
    // Who has no name is called by the email already.
    cell: (account) =>
      account.email !== getAccountName(account) && (
        <Text size="sm" className="wrap">
          <Name>{account.email}</Name>
        </Text>
      ),
    width: '25%',
  },
  {
    id: 'externalId',
    title: words.by.externalId,
    value: ({ externalId }) => externalId,
    cell: ({ externalId }) =>
      externalId !== null && (
        <Text size="sm" className="wrap">
          <Name>{externalId}</Name>
        </Text>
      ),
    width: '15%',
    isLabelled: true,
  },
  {
    id: 'createdAt',
    title: apiKeysTexts.createdColumn,
    value: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Created at={createdAt} />,
    width: '14%',
    isLabelled: true,
  },
];

type CellProps = { readonly account: ListedAccount };

function AccountName({ account }: CellProps) {
  return (
    <Group gap="xs">
      <TextLink
        to="/operator/accounts/$accountId"
        params={{ accountId: account.id }}
        preload={false}
        fw={600}
        className="wrap"
      >
        <Name>{getAccountName(account)}</Name>
      </TextLink>
      {account.role === 'admin' && (
        <Badge variant="light" color="brand" tt="none">
          {operatorTexts.isOperator}
        </Badge>
      )}
      {account.disabledAt !== null && (
        <Badge variant="light" color="red" tt="none">
          {operatorTexts.disabled}
        </Badge>
      )}
    </Group>
  );
}

/** Returns the actions on several accounts. The operator's own is left alone. */
export const accountBulkActions = (ownId: string | undefined): readonly BulkAction<ListedAccount>[] => [
  {
    id: 'disable',
    ...words.bulk.disable,
    color: 'red',
    applies: ({ id, disabledAt }) => id !== ownId && disabledAt === null,
    call: ({ id }) => trpc.operator.disableAccount.mutate({ accountId: id }),
  },
  {
    id: 'enable',
    ...words.bulk.enable,
    applies: ({ disabledAt }) => disabledAt !== null,
    call: ({ id }) => trpc.operator.enableAccount.mutate({ accountId: id }),
  },
];
