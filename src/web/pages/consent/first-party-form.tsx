import { Button, Group, Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { Name } from '../../components/name.tsx';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Placeholder } from '../../components/page.tsx';
import { useKept } from '../../kept.ts';
import { consentTexts as words } from '../../messages/oauth.ts';
import { TeamChoice } from './team-choice.tsx';
import type { Failure, Outputs } from '../../trpc.ts';

type FirstPartyFormProps = {
  readonly authorization: Outputs['authorizations']['read'];
  readonly failure: Failure | undefined;
  /** The decision that is being sent. */
  readonly deciding: 'approve' | 'deny' | undefined;
  /** Whether somebody else signed in meanwhile, who has to see it before anything goes on. */
  readonly hasSwitched: boolean;
  /** `teamId` is that of the chosen team, if the application wants one to be chosen. */
  readonly onContinue: (teamId?: string) => void;
  readonly onCancel: () => void;
};

/** Continues to an application of the operator's own. It asks only what the application wants to be asked. */
export function FirstPartyForm({
  authorization: { id, account, client, firstParty, teams },
  failure,
  deciding,
  hasSwitched,
  onContinue,
  onCancel,
}: FirstPartyFormProps) {
  const isAtOnce = firstParty === 'nothing' && !hasSwitched;
  useEffect(() => {
    if (isAtOnce) onContinue();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once; the button tries again
  }, [isAtOnce]);

  const [teamId, setTeamId] = useKept('team', '');
  const hasToChoose = firstParty === 'team';
  if (isAtOnce && failure === undefined) return <Placeholder rows={2} />;
  return (
    <Stack gap="lg" className="consent-end">
      {firstParty === 'proof' && <Text size="sm">{words.proof(client.name)}</Text>}
      {hasToChoose && <TeamChoice request={id} teams={teams} teamId={teamId} onChange={setTeamId} />}
      <Text size="sm">
        {words.sentTo}{' '}
        <b className="wrap">
          <Name>{client.redirectHost}</Name>
        </b>
      </Text>
      {failure !== undefined && <FailureAlert failure={failure} />}
      <Group gap="sm" className="consent-decision">
        <Button
          variant="default"
          size="md"
          loading={deciding === 'deny'}
          disabled={deciding === 'approve'}
          onClick={onCancel}
        >
          {words.cancel}
        </Button>
        <Button
          size="md"
          loading={deciding === 'approve'}
          disabled={deciding === 'deny' || (hasToChoose && teamId === '')}
          onClick={() => onContinue(hasToChoose ? teamId : undefined)}
        >
          {words.continueAs(account.email)}
        </Button>
      </Group>
    </Stack>
  );
}
