import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { areaTexts } from '../../messages/operator-area.ts';
import { me } from '../../session.ts';
import { query } from '../../trpc.ts';
import { accountBulkActions, accountColumns } from './account-columns.tsx';
import { getAccountName } from './account-name.ts';
import { CreateAccount } from './create-account.tsx';
import { Operators, VIEW } from './operators.tsx';
import { SearchPage, toPrefix } from './search-page.tsx';

const words = areaTexts.accounts;
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
  const page = useQuery({
    ...query('operator.listAccounts', {
      ...(show === undefined ? toPrefix(words.by, search) : { disabled: true }),
      ...(cursor !== undefined && { cursor }),
    }),
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
      items={({ accounts }) => accounts}
      columns={accountColumns}
      rowName={getAccountName}
      bulk={accountBulkActions(person?.id)}
      create={(onClose) => <CreateAccount onClose={onClose} />}
    />
  );
}
