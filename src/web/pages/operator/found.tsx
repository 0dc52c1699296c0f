import { Badge, EmptyState, Paper, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { People } from '../../components/icon.tsx';
import { TextLink } from '../../components/links.tsx';
import { operatorTexts } from '../../messages/operator.ts';
import type { Outputs } from '../../trpc.ts';
import { getAccountName } from './account-name.ts';
import { Name } from '../../components/name.tsx';

const words = operatorTexts.search;

/** The maximum number of results of each kind that the service returns. */
const FOUND_MAX = 20;

type FoundProps = { readonly sought: string; readonly found: Outputs['operator']['find'] };

export const Found = ({ sought, found: { accounts, teams } }: FoundProps) => (
  <>
    <VisuallyHidden role="status">{words.found({ accounts: accounts.length, teams: teams.length })}</VisuallyHidden>
    {accounts.length + teams.length === 0 && (
      <Paper withBorder radius="lg" className="empty">
        <EmptyState variant="light" icon={<People />} title={words.noneTitle} description={words.none(sought)} />
      </Paper>
    )}
    {accounts.length > 0 && (
      <Hits title={words.accounts} count={accounts.length}>
        {accounts.map((account) => (
          <li key={account.id} className="row">
            <div className="row-text">
              <TextLink to="/operator/accounts/$accountId" params={{ accountId: account.id }} className="wrap">
                <Name>{getAccountName(account)}</Name>
              </TextLink>
              {account.email !== null && account.email !== getAccountName(account) && (
                <Text size="sm" c="dimmed" className="wrap">
                  <Name>{account.email}</Name>
                </Text>
              )}
            </div>
            {account.disabledAt !== null && (
              <Badge variant="light" color="red" tt="none">
                {operatorTexts.disabled}
              </Badge>
            )}
          </li>
        ))}
      </Hits>
    )}
    {teams.length > 0 && (
      <Hits title={words.teams} count={teams.length}>
        {teams.map(({ id, name, slug }) => (
          <li key={id} className="row">
            <div className="row-text">
              <TextLink to="/operator/teams/$teamId" params={{ teamId: id }} className="wrap">
                <Name>{name}</Name>
              </TextLink>
              <Text size="sm" c="dimmed" className="wrap">
                {slug}
              </Text>
            </div>
          </li>
        ))}
      </Hits>
    )}
  </>
);

type HitsProps = { readonly title: string; readonly count: number; readonly children: ReactNode };

function Hits({ title, count, children }: HitsProps) {
  const id = useId();
  return (
    <Stack component="section" gap="xs" aria-labelledby={id}>
      <Title order={2} size="h5" id={id}>
        {title}
      </Title>
      <Paper component="ul" withBorder radius="lg" className="card-list">
        {children}
      </Paper>
      {count >= FOUND_MAX && (
        <Text size="sm" c="dimmed">
          {words.first(count)}
        </Text>
      )}
    </Stack>
  );
}
