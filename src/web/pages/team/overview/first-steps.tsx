import { Button, Group, Text, VisuallyHidden } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Check } from '../../../components/icons.tsx';
import { Copyable } from '../../../components/copyable.tsx';
import { ButtonLink } from '../../../components/links.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { Section } from '../../../components/section.tsx';
import { overviewTexts } from '../../../messages/team.ts';
import { useTeam } from '../team.ts';
import type { Overview } from './cards.tsx';

const words = overviewTexts.first;

/** Suggested steps for the only member of a team, until they are done or dismissed in this browser. */
export function FirstSteps({ overview: { members, invitations, apiKeys } }: { readonly overview: Overview }) {
  const { team } = useTeam();
  const notify = useNotice();
  const params = { teamId: team.slug };
  const isOver = (invitations === null || invitations > 0) && (apiKeys === null || apiKeys > 0);
  const [isDismissed, setDismissed] = useLocalStorage({
    key: `roster-first-steps-${team.id}`,
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const counts = [invitations, apiKeys].filter((count) => count !== null);
  if (members !== 1 || isOver || isDismissed) return null;
  const dismiss = () => {
    setDismissed(true);
    document.querySelector('h1')?.focus();
    notify(words.dismissed);
  };
  return (
    <Section title={words.title} explanation={words.explanation}>
      <Text size="sm" fw={600}>
        {words.progress({ done: 1 + counts.filter((count) => count > 0).length, all: 1 + counts.length })}
      </Text>
      <ol className="rows">
        <Step title={words.created} isDone />
        {invitations !== null && (
          <Step title={words.invite} hint={words.inviteHint} isDone={invitations > 0}>
            <ButtonLink
              to="/teams/$teamId/invitations"
              params={params}
              state={{ dialog: 'invite' }}
              variant="default"
              size="sm"
            >
              {words.invite}
            </ButtonLink>
          </Step>
        )}
        {apiKeys !== null && (
          <Step title={words.key} hint={words.keyHint} isDone={apiKeys > 0}>
            <ButtonLink
              to="/teams/$teamId/api-keys"
              params={params}
              state={{ dialog: 'createKey' }}
              variant="default"
              size="sm"
            >
              {words.key}
            </ButtonLink>
            <Text size="sm" w="100%">
              {words.try}
            </Text>
            <Text component="div" size="sm" w="100%">
              <Copyable label={words.curl} value={createCurl(team.id)} />
            </Text>
          </Step>
        )}
      </ol>
      <Group>
        <Button variant="subtle" size="sm" onClick={dismiss}>
          {words.dismiss}
        </Button>
      </Group>
    </Section>
  );
}

type StepProps = {
  readonly title: string;
  readonly hint?: string;
  readonly isDone: boolean;
  readonly children?: ReactNode;
};

const Step = ({ title, hint, isDone, children }: StepProps) => (
  <li className="row">
    <div className="overview-step" data-done={isDone || undefined}>
      <span className="overview-tick">{isDone && <Check size={16} />}</span>
      <div>
        <Text component="h3" fw={600}>
          {title}
          {isDone && <VisuallyHidden> {words.done}</VisuallyHidden>}
        </Text>
        {!isDone && hint !== undefined && (
          <Text size="sm" c="dimmed">
            {hint}
          </Text>
        )}
      </div>
    </div>
    {!isDone && children}
  </li>
);

/** A call that a team key with the scope `teams:read` can make. */
const createCurl = (teamId: string): string =>
  `curl -H "Authorization: Bearer $KEY" ${window.location.origin}/api/v1/teams/${teamId}`;
