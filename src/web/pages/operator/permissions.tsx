import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Page } from '../../components/page.tsx';
import { useKept } from '../../kept.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { query } from '../../trpc.ts';
import { ChangeCatalogue } from './change-catalogue.tsx';
import { ListTable } from './list.tsx';
import { Operators } from './operators.tsx';
import { permissionColumns, type CataloguePermission } from './permission-columns.tsx';

const words = areaTexts.permissions;

const rowId = ({ name }: CataloguePermission): string => name;

/** The catalogue of the product’s permissions. */
export const OperatorPermissionsPage = () => (
  <Operators>
    <Catalogue />
  </Operators>
);

function Catalogue() {
  const page = useQuery({ ...query('operator.getPermissions'), staleTime: 0 });
  const holders = useQuery({ ...query('operator.permissionHolders'), staleTime: 0 });
  const [changing, setChanging] = useKept('changing', false);
  const held = new Map(holders.data?.map((each) => [each.name, each]));
  return (
    <Page
      isWide
      title={words.title}
      explanation={words.explanation}
      action={page.data && <Button onClick={() => setChanging(true)}>{words.change}</Button>}
    >
      {page.data !== undefined && (
        <Text size="sm" c="dimmed">
          {words.version(page.data.version)}
        </Text>
      )}
      <ListTable
        label={words.title}
        page={page}
        items={({ permissions }) => permissions.map((each) => ({ ...each, held: held.get(each.name) }))}
        columns={permissionColumns}
        rowId={rowId}
        rowName={rowId}
        empty={{ title: areaTexts.list.emptyTitle, description: words.empty }}
        cursor={undefined}
        next={null}
      />
      {changing && page.data !== undefined && (
        <ChangeCatalogue
          catalogue={page.data}
          reread={() => Promise.all([page.refetch(), holders.refetch()])}
          onClose={() => setChanging(false)}
        />
      )}
    </Page>
  );
}
