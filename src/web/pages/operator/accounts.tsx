import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { areaTexts } from '../../messages/operator-area.ts';
import { me } from '../../session.ts';
import { query } from '../../trpc.ts';
import { accountBulkActions, accountColumns } from './account-columns.tsx';
import { getAccountName } from './account-name.ts';
import { CreateAccount } from './create-account.tsx';
import { downloadList } from './download-list.ts';
import { useListOrder } from './list-order.ts';
import { Operators, VIEW } from './operators.tsx';
import { SearchPage, toField, toPrefix } from './search-page.tsx';

const words = areaTexts.accounts;
/** A search has the order of its field. */
const ORDERS = ['createdAt', 'email', 'name', 'lastName'] as const;
const route = getRouteApi('/console/operator/accounts');

/** All accounts, fifty per page. */
export const OperatorAccountsPage = () => (
  <Operators>
    <Accounts />
  </Operators>
);

function Accounts() {
  const search = route.useSearch();
  const { show, cursor } = search;
  const { data: person } = useQuery(me());
  const field = show === undefined ? toField(words.by, search) : undefined;
  const { input: sort, order } = useListOrder(field === undefined ? ORDERS : [field]);
  const input = { ...(show === undefined ? toPrefix(words.by, search) : { disabled: true }), ...sort };
  const page = useQuery({
    ...query('operator.listAccounts', { ...input, ...(cursor !== undefined && { cursor }) }),
    ...VIEW,
  });
  return (
    <SearchPage
      to="/operator/accounts"
      words={words}
      filter={{
        label: areaTexts.list.show,
        all: words.states.all,
        options: [{ value: 'disabled', label: words.states.disabled }],
      }}
      search={search}
      page={page}
      order={order}
      download={() => downloadList('accounts', input)}
      items={({ accounts }) => accounts}
      columns={accountColumns}
      rowName={getAccountName}
      bulk={accountBulkActions(person?.id)}
      create={(onClose) => <CreateAccount onClose={onClose} />}
    />
  );
}
