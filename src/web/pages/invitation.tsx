import { useInvitation } from '#client/react';
import { Alert, Button, DataList, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ContinueTo, ThenTo } from '../components/continue-to.tsx';
import { ButtonLink } from '../components/links.tsx';
import { Confirmation } from '../components/confirmation.tsx';
import { useDates } from '../components/dates.ts';
import { FailureAlert } from '../components/failure-alert.tsx';
import { Done, IncompleteLink } from '../components/link-page.tsx';
import { useNotice } from '../components/notices.tsx';
import { Page, Placeholder } from '../components/page.tsx';
import { ResendVerification } from '../components/resend-verification.tsx';
import { useSignOut } from '../components/sign-out.ts';
import { me, useSessionStart } from '../session.ts';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { toFailure, isSignedOut, type Outputs } from '../trpc.ts';
import { getRoleLabel } from '../components/role-label.ts';
import { Name } from '../components/name.tsx';

export function InvitationPage() {
  const { token } = useSearch({ from: '/public/invitation' });
  return token === undefined ? <IncompleteLink /> : <Invitation token={token} />;
}

/** Reading the link changes nothing, because mail scanners open links. */
function Invitation({ token }: { readonly token: string }) {
  const { invitation, error: unreadable, accept, decline } = useInvitation(token);
  const person = useQuery(me());
  const { minute } = useDates();
  const [declining, setDeclining] = useState(false);
  const [declined, setDeclined] = useState(false);
  const next = accept.data?.continueTo;

  if (declined)
    return (
      <Done title={publicTexts.invitation.declined} explanation={publicTexts.invitation.declinedDetail} next={null} />
    );
  if (next !== undefined && invitation !== null) {
    const title = publicTexts.invitation.accepted(invitation.teamName);
    return (
      <Done
        title={title}
        explanation={publicTexts.application.later(next.name)}
        next={<ContinueTo application={next} />}
      />
    );
  }
  const error = unreadable ?? (isSignedOut(person.error) ? null : person.error);
  if (error !== null) {
    return (
      <Page title={publicTexts.invitation.failedTitle}>
        <FailureAlert failure={toFailure(error)}>
          {toFailure(error).code === 'link_invalid' && <Text size="sm">{publicTexts.link.invitation}</Text>}
        </FailureAlert>
        {person.data !== undefined && (
          <ButtonLink to="/" variant="default">
            {texts.toTeams}
          </ButtonLink>
        )}
      </Page>
    );
  }
  if (invitation === null || person.isPending) {
    return (
      <Page title={publicTexts.invitation.loadingTitle}>
        <Placeholder rows={4} />
      </Page>
    );
  }

  const { teamName, roleName, inviterName, email, expiresAt, acceptedTeamId } = invitation;
  if (acceptedTeamId !== undefined) {
    return (
      <Page title={publicTexts.invitation.alreadyTitle} explanation={publicTexts.invitation.already(teamName)}>
        <ButtonLink to="/teams/$teamId" params={{ teamId: acceptedTeamId }} size="md" fullWidth>
          {publicTexts.invitation.toTeam}
        </ButtonLink>
      </Page>
    );
  }
  return (
    <Page
      title={publicTexts.invitation.title(teamName)}
      explanation={
        inviterName === null
          ? publicTexts.invitation.fromMember(teamName)
          : publicTexts.invitation.from({ inviter: inviterName, team: teamName })
      }
    >
      <DataList labelWidth={88}>
        <Fact label={publicTexts.invitation.invited} value={email} />
        <Fact label={publicTexts.invitation.role} value={getRoleLabel(roleName)} />
        <Fact label={publicTexts.invitation.until} value={minute(expiresAt)} />
      </DataList>
      <ThenTo application={invitation.application} />
      <Answer
        token={token}
        accept={accept}
        invitation={invitation}
        own={person.data?.email ?? null}
        onDecline={() => setDeclining(true)}
      />
      {declining && (
        <Confirmation
          title={publicTexts.invitation.declineTitle}
          explanation={publicTexts.invitation.declineExplanation}
          submit={publicTexts.invitation.decline}
          call={() => decline.mutateAsync()}
          onSuccess={() => setDeclined(true)}
          onClose={() => setDeclining(false)}
        />
      )}
    </Page>
  );
}

const Fact = ({ label, value }: { readonly label: string; readonly value: string }) => (
  <DataList.Item>
    <DataList.ItemLabel>{label}</DataList.ItemLabel>
    <DataList.ItemValue>
      <Name>{value}</Name>
    </DataList.ItemValue>
  </DataList.Item>
);

type AnswerProps = {
  readonly token: string;
  readonly accept: ReturnType<typeof useInvitation>['accept'];
  readonly invitation: Outputs['invitations']['read'];
  /** The email of the signed-in account. */
  readonly own: string | null;
  readonly onDecline: () => void;
};

function Answer({ token, accept, invitation, own, onDecline }: AnswerProps) {
  const { email, teamName, provesMailbox, hasAccount } = invitation;
  const here = `/invitation?token=${encodeURIComponent(token)}`;
  const start = useSessionStart();
  const notify = useNotice();
  const join = () =>
    accept.mutate(undefined, {
      onSuccess: ({ id, continueTo }) => {
        if (continueTo !== undefined) return;
        start(`/teams/${id}`);
        notify(publicTexts.invitation.accepted(teamName));
      },
    });
  const failure = accept.error === null ? undefined : toFailure(accept.error);
  const signOut = useSignOut(here);

  if (own !== null && own.toLowerCase() !== email.toLowerCase()) {
    return (
      <Stack gap="md">
        <Alert color="yellow" title={publicTexts.invitation.otherTitle}>
          {publicTexts.invitation.other({ invited: email, own })}
        </Alert>
        <Button size="md" variant="default" loading={signOut.isPending} onClick={() => signOut.submit()}>
          {publicTexts.invitation.signOut}
        </Button>
      </Stack>
    );
  }
  const decline = (
    <Button variant="subtle" color="gray" onClick={onDecline}>
      {publicTexts.invitation.decline}
    </Button>
  );
  if (own !== null) {
    return (
      <Stack gap="sm">
        {failure !== undefined && (
          <FailureAlert failure={failure}>
            {failure.code === 'email_not_verified' && <ResendVerification email={own} />}
          </FailureAlert>
        )}
        <Button size="md" loading={accept.isPending} onClick={join}>
          {publicTexts.invitation.accept}
        </Button>
        {decline}
      </Stack>
    );
  }
  return (
    <Stack gap="sm">
      {!provesMailbox && (
        <Text size="sm" className="wrap">
          {publicTexts.invitation.passedOn(email)}
        </Text>
      )}
      {hasAccount !== false && (
        <ButtonLink to="/sign-in" search={{ next: here }} size="md">
          {publicTexts.invitation.signIn}
        </ButtonLink>
      )}
      {hasAccount !== true && (
        <ButtonLink
          to="/sign-up"
          search={{ invitation: token }}
          size="md"
          variant={hasAccount === null ? 'default' : 'filled'}
        >
          {publicTexts.invitation.signUp}
        </ButtonLink>
      )}
      {decline}
    </Stack>
  );
}
