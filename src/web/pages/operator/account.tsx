import { Badge, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Page, Placeholder } from '../../components/page.tsx';
import { ProvenMethods } from '../../components/proven-methods.tsx';
import { Section } from '../../components/section.tsx';
import { operatorTexts } from '../../messages/operator.ts';
import { query, type Outputs } from '../../trpc.ts';
import { Access } from './access.tsx';
import { AccountActions } from './account-actions.tsx';
import { AccountDetails } from './account-details.tsx';
import { AccountTeams } from './account-teams.tsx';
import { Figures } from './fact.tsx';
import { BackToSearch, isGone, Operators, Refusal, VIEW } from './operators.tsx';
import { getAccountName } from './account-name.ts';

const words = operatorTexts.account;
const route = getRouteApi('/console/operator/accounts/$accountId');

export function OperatorAccountPage() {
  const { accountId } = route.useParams();
  return (
    <Operators>
      <BackToSearch />
      <AccountView accountId={accountId} />
    </Operators>
  );
}

function AccountView({ accountId }: { readonly accountId: string }) {
  const account = useQuery({ ...query('operator.account', { accountId }), ...VIEW });
  const shown = isGone(account.error) ? undefined : account.data;
  return (
    <Page title={shown === undefined ? words.title : getAccountName(shown)} action={shown && <Marks account={shown} />}>
      {account.error !== null && <Refusal error={account.error} retry={() => void account.refetch()} />}
      {account.isPending && <Placeholder rows={3} height={150} />}
      {shown !== undefined && (
        <>
          <AccountDetails account={shown} />
          <AccountTeams account={shown} />
          <Section title={words.credentials} explanation={words.credentialsHint}>
            <Figures
              of={[
                [words.sessions, shown.sessions],
                [words.keys, shown.keys],
                [words.grants, shown.grants],
              ]}
            />
            <ProvenMethods methods={shown.sessionMethods} />
          </Section>
          <AccountActions account={shown} reread={account.refetch} />
          <Access account={shown} reread={account.refetch} />
        </>
      )}
    </Page>
  );
}

const Marks = ({ account: { role, disabledAt } }: { readonly account: Outputs['operator']['account'] }) => (
  <Group gap="xs">
    {role === 'admin' && (
      <Badge variant="light" color="brand" tt="none" size="lg">
        {operatorTexts.isOperator}
      </Badge>
    )}
    {disabledAt !== null && (
      <Badge variant="light" color="red" tt="none" size="lg">
        {operatorTexts.disabled}
      </Badge>
    )}
  </Group>
);
