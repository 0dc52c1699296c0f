import { Code, Menu, Text } from '@mantine/core';
import { useDates } from '../../components/dates.ts';
import { Name } from '../../components/name.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import type { Column } from '../../components/table/column.ts';
import { apiKeysTexts } from '../../messages/api-keys.ts';
import { isolateName } from '../../messages/isolate.ts';
import { SEPARATOR } from '../../messages/language.ts';
import { developerTexts } from '../../messages/oauth.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import type { Outputs } from '../../trpc.ts';

export type OperatorClient = Outputs['operator']['listClients']['clients'][number];
export type ClientDialog = 'edit' | 'rotate' | 'delete';

const { marks } = areaTexts.clients;

const describe = ({ isConfidential, isNative, isFirstParty, isDevelopment }: OperatorClient): string =>
  [
    developerTexts.kinds[isConfidential ? 'server' : isNative ? 'device' : 'browser'],
    isFirstParty ? marks.firstParty : marks.others,
    ...(isDevelopment ? [marks.development] : []),
  ].join(SEPARATOR);

/** What a first-party client has, or what another one can ask its users for beside the scopes of the API. */
const listAccess = ({ scopes, openidScopes, permissions }: OperatorClient): string =>
  [...(scopes ?? openidScopes ?? []), ...permissions].join(' ');

export const clientColumns: readonly Column<OperatorClient>[] = [
  {
    id: 'client',
    title: developerTexts.name,
    value: ({ name }) => name,
    cell: (client) => <ClientCell client={client} />,
    search: (client) => `${client.name} ${client.id} ${listAccess(client)}`,
  },
  { id: 'id', title: developerTexts.clientId, value: ({ id }) => id, cell: () => null, isExportOnly: true },
  {
    id: 'redirectUris',
    title: developerTexts.redirectUris,
    value: ({ redirectUris }) => redirectUris.join(' '),
    cell: ({ redirectUris }) => (
      <Text size="sm" className="wrap">
        {redirectUris.map(isolateName).join(SEPARATOR)}
      </Text>
    ),
    search: ({ redirectUris }) => redirectUris.join(' '),
    width: '32%',
  },
  {
    id: 'createdAt',
    title: apiKeysTexts.createdColumn,
    value: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Day at={createdAt} />,
    width: '14%',
    isLabelled: true,
  },
  {
    id: 'scopes',
    title: apiKeysTexts.scopes,
    value: ({ scopes, openidScopes }) => (scopes ?? openidScopes ?? []).join(' '),
    cell: () => null,
    isExportOnly: true,
  },
  {
    id: 'permissions',
    title: areaTexts.pages.permissions,
    value: ({ permissions }) => permissions.join(' '),
    cell: () => null,
    isExportOnly: true,
  },
];

function Day({ at }: { readonly at: string }) {
  const { day } = useDates();
  return (
    <Text size="sm" className="wrap sentence">
      <time dateTime={at}>{day(at)}</time>
    </Text>
  );
}

const ClientCell = ({ client }: { readonly client: OperatorClient }) => (
  <>
    <Text fw={600} size="sm" className="wrap">
      <Name>{client.name}</Name>
    </Text>
    <Code className="wrap">{client.id}</Code>
    <Text size="xs" c="dimmed" className="wrap">
      {describe(client)}
    </Text>
    <Text size="xs" c="dimmed" className="wrap">
      {listAccess(client)}
    </Text>
  </>
);

type ClientMenuProps = {
  readonly client: OperatorClient;
  readonly onAction: (kind: ClientDialog, client: OperatorClient) => void;
};

export const ClientMenu = ({ client, onAction }: ClientMenuProps) => (
  <RowMenu name={client.name} id={client.id}>
    <Menu.Item onClick={() => onAction('edit', client)} aria-label={developerTexts.editOf(client.name)}>
      {developerTexts.edit}
    </Menu.Item>
    {client.isConfidential && (
      <Menu.Item onClick={() => onAction('rotate', client)} aria-label={developerTexts.rotateOf(client.name)}>
        {developerTexts.rotate}
      </Menu.Item>
    )}
    <Menu.Item
      className="data-danger"
      onClick={() => onAction('delete', client)}
      aria-label={developerTexts.deleteOf(client.name)}
    >
      {developerTexts.delete}
    </Menu.Item>
  </RowMenu>
);
