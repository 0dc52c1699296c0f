import { Alert, Badge, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { FailureAlert } from '../components/failure-alert.tsx';
import { ButtonLink } from '../components/links.tsx';
import { useDates } from '../components/dates.ts';
import { Done } from '../components/link-page.tsx';
import { Page, Placeholder } from '../components/page.tsx';
import { useSignOut } from '../components/sign-out.ts';
import { texts } from '../messages/console.ts';
import { consentTexts as words } from '../messages/oauth.ts';
import { toFailure, query, trpc, type Failure, type Outputs } from '../trpc.ts';
import { ConsentForm, type Approval } from './consent/consent-form.tsx';
import { FirstPartyForm } from './consent/first-party-form.tsx';
import { useSubmission } from '../components/submission.ts';
import { Name } from '../components/name.tsx';

/** Asks the user to approve or deny an application’s request for access. */
export function ConsentPage() {
  const { id } = useParams({ from: '/decisions/oauth/consent/$id' });
  const authorization = useQuery(query('authorizations.read', { id }));
  const decision = useDecision(id);
  const hasSwitched = useSwitched(authorization.data?.account.id);

  if (authorization.error !== null && toFailure(authorization.error).code === 'authorization_not_found') {
    return (
      <Done
        title={words.invalidTitle}
        explanation={words.invalid}
        next={
          <ButtonLink to="/" variant="default" size="md">
            {texts.toTeams}
          </ButtonLink>
        }
      />
    );
  }
  if (authorization.data === undefined) {
    return (
      <Page title={words.loadingTitle}>
        {authorization.error === null ? (
          <Placeholder rows={5} />
        ) : (
          <FailureAlert failure={toFailure(authorization.error)} retry={() => void authorization.refetch()} />
        )}
      </Page>
    );
  }

  const { account, client } = authorization.data;
  const failure = decision.error === null ? undefined : toFailure(decision.error);
  const shown = hasSwitched && failure?.code === 'account_changed' ? undefined : failure;
  const deciding =
    decision.isPending || decision.isSuccess ? (decision.variables === null ? 'deny' : 'approve') : undefined;
  if (authorization.data.firstParty !== null) {
    return (
      <Page title={words.continueTitle(client.name)} explanation={words.continueExplanation}>
        {hasSwitched && <Switched email={account.email} />}
        <SignedInAs id={id} email={account.email} />
        <FirstPartyForm
          key={account.id}
          authorization={authorization.data}
          failure={shown}
          deciding={deciding}
          hasSwitched={hasSwitched}
          onContinue={(teamId) => decision.submit({ accountId: account.id, ...(teamId !== undefined && { teamId }) })}
          onCancel={() => decision.submit(null)}
        />
      </Page>
    );
  }
  return (
    <Page title={words.title(client.name)} explanation={words.explanation}>
      {hasSwitched && <Switched email={account.email} />}
      <Client client={client} />
      <SignedInAs id={id} email={account.email} />
      <ConsentForm
        // Discards the choices if the account changes.
        key={account.id}
        authorization={authorization.data}
        failure={shown}
        deciding={deciding}
        onDecide={(approval) => decision.submit(approval)}
      />
    </Page>
  );
}

/** Errors that mean that the page is out of date. */
const OUTDATED: ReadonlySet<Failure['code']> = new Set<Failure['code']>([
  'account_changed',
  'authorization_not_found',
  'team_not_found',
]);

/** An approval, a confirmation for a first-party client, or null to deny. */
type Decision = Approval | { readonly accountId: string; readonly teamId?: string } | null;

/** Sends the decision, and redirects to the application. */
function useDecision(id: string) {
  const queries = useQueryClient();
  const decision = useSubmission({
    mutationFn: (decided: Decision) => {
      if (decided === null) return trpc.authorizations.deny.mutate({ id });
      return 'scopes' in decided
        ? trpc.authorizations.approve.mutate({ id, ...decided })
        : trpc.authorizations.continue.mutate({ id, ...decided });
    },
    onSuccess: ({ redirectTo }) => window.location.assign(redirectTo),
    onError: (error) => {
      if (OUTDATED.has(toFailure(error).code)) void queries.invalidateQueries(query('authorizations.read', { id }));
    },
  });
  const { reset } = decision;
  useEffect(() => {
    // The back button can restore the page in the state before the redirect.
    const onPageShow = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return;
      reset();
      void queries.resetQueries();
    };
    window.addEventListener('pageshow', onPageShow);
    return () => window.removeEventListener('pageshow', onPageShow);
  }, [queries, reset]);
  return decision;
}

/** Whether the account changed since the page was opened. */
function useSwitched(accountId: Outputs['authorizations']['read']['account']['id'] | undefined): boolean {
  const queries = useQueryClient();
  const [shown, setShown] = useState(accountId);
  const [hasSwitched, setHasSwitched] = useState(false);
  if (accountId !== undefined && accountId !== shown) {
    setShown(accountId);
    setHasSwitched(shown !== undefined);
  }
  useEffect(() => {
    if (hasSwitched) queries.removeQueries({ type: 'inactive' }); // data of the previous account
  }, [queries, hasSwitched, shown]);
  return hasSwitched;
}

function Switched({ email }: { readonly email: string }) {
  useEffect(() => document.querySelector('h1')?.focus(), []);
  return (
    <Alert color="yellow" title={words.switchedTitle} role="alert">
      {words.switched(email)}
    </Alert>
  );
}

type ClientProps = { readonly client: Outputs['authorizations']['read']['client'] };

const Client = ({ client }: ClientProps) =>
  client.isVerified ? (
    <div>
      <Badge variant="light" color="teal" tt="none" size="lg">
        {words.verified}
      </Badge>
      <Text size="sm" mt="xs">
        <Source client={client} />
      </Text>
    </div>
  ) : (
    <Alert color="yellow" title={words.unverifiedTitle}>
      <Source client={client} /> {words.unverified}
    </Alert>
  );

/** Who made an application, and since when it is known. */
function Source({ client: { source, madeBy: name, createdAt } }: ClientProps) {
  const date = useDates().day(createdAt);
  if (source === 'operator' || source === 'registration') return words.source[source](date);
  return name === null ? words.source.unnamedAccount(date) : words.source[source]({ name, date });
}

function SignedInAs({ id, email }: { readonly id: string; readonly email: string }) {
  const signOut = useSignOut(`/sign-in?next=${encodeURIComponent(`/oauth/consent/${encodeURIComponent(id)}`)}`);
  return (
    <div className="who">
      {signOut.error !== null && <FailureAlert failure={toFailure(signOut.error)} />}
      <Text size="sm" c="dimmed">
        {words.signedInAs}
      </Text>
      <Text fw={600} className="wrap">
        <Name>{email}</Name>
      </Text>
      <Text size="sm" mt={4}>
        <button type="button" className="link-button" disabled={signOut.isPending} onClick={() => signOut.submit()}>
          {words.otherAccount}
        </button>
      </Text>
    </div>
  );
}
