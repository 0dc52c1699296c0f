import { useCreateTeam } from '#client/react';
import { Button, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCallForm } from '../../components/call-form.ts';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Name } from '../../components/name.tsx';
import { getRoleLabel } from '../../components/role-label.ts';
import { texts } from '../../messages/console.ts';
import { consentTexts as words } from '../../messages/oauth.ts';
import { query, type Outputs } from '../../trpc.ts';

type TeamChoiceProps = {
  /** The id of the authorization request. */
  readonly request: string;
  readonly teams: Outputs['authorizations']['read']['teams'];
  /** '' until a team is chosen. */
  readonly teamId: string;
  readonly onChange: (teamId: string) => void;
};

/** Chooses the team in which the user works in an application, or creates one. */
export function TeamChoice({ request, teams, teamId, onChange }: TeamChoiceProps) {
  const [isCreating, setCreating] = useState(false);
  return (
    <Stack gap="sm">
      {teams.length === 0 ? (
        <Text size="sm">{words.noTeamYet}</Text>
      ) : (
        <Radio.Group label={words.enterTeam} value={teamId} onChange={onChange}>
          <Stack gap="sm" mt="sm">
            {teams.map(({ id, name, roleName }) => (
              <Radio key={id} value={id} label={<Name>{name}</Name>} description={getRoleLabel(roleName)} />
            ))}
          </Stack>
        </Radio.Group>
      )}
      <div>
        <Button variant="default" onClick={() => setCreating(true)}>
          {texts.home.create}
        </Button>
      </div>
      {isCreating && <CreateTeam request={request} onCreated={onChange} onClose={() => setCreating(false)} />}
    </Stack>
  );
}

type CreateProps = {
  readonly request: string;
  readonly onCreated: (teamId: string) => void;
  readonly onClose: () => void;
};

function CreateTeam({ request, onCreated, onClose }: CreateProps) {
  const createTeam = useCreateTeam();
  const queries = useQueryClient();
  const form = useCallForm({
    initialValues: { name: '' },
    call: ({ name }) => createTeam.mutateAsync({ name: name.trim() }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries(query('authorizations.read', { id: request }));
      onCreated(id);
      onClose();
    },
  });
  return (
    <Dialog onClose={onClose} title={texts.home.createTitle}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <TextInput {...form.field('name')} label={texts.home.name} autoComplete="off" required data-autofocus />
          <DialogButtons onCancel={onClose}>
            <Button type="submit" loading={form.pending}>
              {texts.home.submit}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  );
}
