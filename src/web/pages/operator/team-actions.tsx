import { Button, Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Confirmation } from '../../components/confirmation.tsx';
import { ButtonLink } from '../../components/links.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Section } from '../../components/section.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { EditTeam } from './edit-team.tsx';
import { TransferTeam } from './transfer-team.tsx';
import { useKept } from '../../kept.ts';

const words = areaTexts.teams;

type Props = { readonly team: Outputs['operator']['team']; readonly reread: () => Promise<unknown> };

/** What an operator can do with a team, except for its subscription. */
export function TeamActions({ team, reread }: Props) {
  const navigate = useNavigate();
  const notify = useNotice();
  const [dialog, setDialog] = useKept<'edit' | 'transfer' | 'delete' | undefined>('dialog', undefined);
  const close = () => setDialog(undefined);
  const params = { teamId: team.id };
  return (
    <Section title={words.actions} explanation={words.actionsHint}>
      <Group gap="sm">
        <ButtonLink to="/operator/teams/$teamId/members" params={params} variant="default" preload={false}>
          {words.members}
        </ButtonLink>
        <ButtonLink to="/operator/teams/$teamId/keys" params={params} variant="default" preload={false}>
          {words.keys}
        </ButtonLink>
        <ButtonLink to="/operator/audit" search={{ teamId: team.id }} variant="default" preload={false}>
          {words.audit}
        </ButtonLink>
      </Group>
      <Group gap="sm">
        <Button variant="default" onClick={() => setDialog('edit')}>
          {words.edit}
        </Button>
        <Button variant="default" onClick={() => setDialog('transfer')}>
          {words.transfer}
        </Button>
        <Button variant="outline" color="red" onClick={() => setDialog('delete')}>
          {words.remove}
        </Button>
      </Group>
      {dialog === 'edit' && <EditTeam team={team} reread={reread} onClose={close} />}
      {dialog === 'transfer' && <TransferTeam team={team} reread={reread} onClose={close} />}
      {dialog === 'delete' && (
        <Confirmation
          title={words.removeTitle(team.name)}
          explanation={words.removeExplanation}
          submit={words.removeSubmit}
          call={() => trpc.operator.deleteTeam.mutate(params)}
          onSuccess={() => {
            notify(words.removed(team.name));
            void navigate({ to: '/operator/teams', replace: true });
          }}
          onError={() => void reread()}
          onClose={close}
        />
      )}
    </Section>
  );
}
