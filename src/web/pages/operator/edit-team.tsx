import { Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { texts } from '../../messages/console.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { orNull } from './values.ts';

const words = areaTexts.teams;

type EditTeamProps = {
  readonly team: Outputs['operator']['team'];
  readonly reread: () => Promise<unknown>;
  readonly onClose: () => void;
};

/** Changes the fields of a team that differ from the ones that the page shows. */
export function EditTeam({ team, reread, onClose }: EditTeamProps) {
  const notify = useNotice();
  const [shown] = useState(team);
  const form = useCallForm({
    initialValues: {
      name: shown.name,
      description: shown.description ?? '',
      externalId: shown.externalId ?? '',
    },
    call: async ({ name, description, externalId }) => {
      await trpc.operator.updateTeam.mutate({
        teamId: shown.id,
        ...(name !== shown.name && { name }),
        ...(orNull(description) !== shown.description && { description: orNull(description) }),
        ...(orNull(externalId) !== shown.externalId && { externalId: orNull(externalId) }),
      });
      await reread();
    },
    onSuccess: () => {
      onClose();
      notify(words.saved);
    },
    onError: () => void reread(),
  });
  return (
    <FormDialog title={words.edit} form={form} submit={texts.save} onClose={onClose}>
      <TextInput {...form.field('name')} label={words.name} autoComplete="off" required data-autofocus />
      <Textarea {...form.field('description')} label={texts.optional(words.description)} autoComplete="off" rows={3} />
      <TextInput
        {...form.field('externalId')}
        label={texts.optional(areaTexts.externalId)}
        description={areaTexts.externalIdHint}
        autoComplete="off"
      />
    </FormDialog>
  );
}
