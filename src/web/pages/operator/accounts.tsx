import { Badge, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useDates } from '../../components/dates.ts';
import { TextLink } from '../../components/links.tsx';
import { Page } from '../../components/page.tsx';
import { operatorTexts } from '../../messages/operator.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, type Outputs } from '../../trpc.ts';
import { getAccountName } from './account-name.ts';
import { CreateAccount } from './create-account.tsx';
import { ListSearch } from './list-search.tsx';
import { List, Pager } from './list.tsx';
import { Operators, VIEW } from './operators.tsx';

const words = areaTexts.accounts;
const route = getRouteApi('/console/operator/accounts');

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
      <List
        label={words.title}
        page={page}
        items={({ accounts }) => accounts}
        row={(account) => <AccountRow key={account.id} account={account} />}
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

function AccountRow({ account }: { readonly account: Outputs['operator']['listAccounts']['accounts'][number] }) {
  const { day } = useDates();
  const name = getAccountName(account);
  const facts = [
    account.email === name ? null : account.email,
    account.externalId,
    words.created(day(account.createdAt)),
  ];
  return (
    <li className="row">
      <div className="row-text">
        <TextLink
          to="/operator/accounts/$accountId"
          params={{ accountId: account.id }}
          preload={false}
          fw={600}
          className="wrap"
        >
          {name}
        </TextLink>
        <Text size="sm" c="dimmed" className="wrap">
          {facts.filter(Boolean).join(' · ')}
        </Text>
      </div>
      <Group gap="xs">
        {account.role === 'admin' && (
          <Badge variant="light" color="blue" tt="none">
            {operatorTexts.isOperator}
          </Badge>
        )}
        {account.disabledAt !== null && (
          <Badge variant="light" color="red" tt="none">
            {operatorTexts.disabled}
          </Badge>
        )}
      </Group>
    </li>
  );
}
