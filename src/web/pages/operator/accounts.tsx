import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Page } from '../../components/page.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { me } from '../../session.ts';
import { query } from '../../trpc.ts';
import { accountBulkActions, accountColumns, type ListedAccount } from './account-columns.tsx';
import { getAccountName } from './account-name.ts';
import { CreateAccount } from './create-account.tsx';
import { ListSearch } from './list-search.tsx';
import { ListTable, Pager } from './list.tsx';
import { Operators, VIEW } from './operators.tsx';

const words = areaTexts.accounts;
const route = getRouteApi('/console/operator/accounts');

const rowId = ({ id }: ListedAccount): string => id;

type By = keyof typeof words.by;

/** All accounts, fifty per page. */
export const OperatorAccountsPage = () => (
  <Operators>
    <Accounts />
  </Operators>
);

function Accounts() {
  const { by = 'email', text, show, cursor } = route.useSearch();
  const navigate = useNavigate();
  const { data: person } = useQuery(me());
  const [creating, setCreating] = useState(false);
  const field = Object.hasOwn(words.by, by) ? (by as By) : 'email';
  const page = useQuery({
    ...query('operator.listAccounts', {
      ...(show === 'disabled' ? { disabled: true } : text !== undefined && { [field]: text }),
      ...(cursor !== undefined && { cursor }),
    }),
    ...VIEW,
  });
  return (
    <Page
      title={words.title}
      explanation={words.explanation}
      action={<Button onClick={() => setCreating(true)}>{words.create}</Button>}
    >
      <ListSearch
        fields={words.by}
        shows={words.states}
        sought={{ ...(text !== undefined && { by: field, text }), ...(show !== undefined && { show }) }}
        onSearch={(search) => void navigate({ to: '/operator/accounts', search })}
      />
      <ListTable
        label={words.title}
        page={page}
        items={({ accounts }) => accounts}
        columns={accountColumns}
        rowId={rowId}
        rowName={getAccountName}
        bulk={accountBulkActions(person?.id)}
        empty={
          text === undefined
            ? { title: areaTexts.list.emptyTitle, description: areaTexts.list.empty }
            : { title: areaTexts.list.noneTitle, description: areaTexts.list.none(text) }
        }
      />
      <Pager cursor={cursor} next={page.data?.nextCursor} />
      {creating && <CreateAccount onClose={() => setCreating(false)} />}
    </Page>
  );
}
