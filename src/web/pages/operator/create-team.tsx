import { TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { texts } from '../../messages/console.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc } from '../../trpc.ts';
import { findAccountReference, orUndefined } from './values.ts';

const words = areaTexts.teams;

/** Creates a team with its owner, and opens its page. */
export function CreateTeam({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const notify = useNotice();
  const form = useCallForm({
    isNew: true,
    initialValues: { name: '', ownerId: '', externalId: '' },
    call: async ({ name, ownerId, externalId }) =>
      trpc.operator.createTeam.mutate({
        name,
        ownerId: await findAccountReference(ownerId),
        externalId: orUndefined(externalId),
      }),
    fieldOf: { account_not_found: 'ownerId' },
    onSuccess: ({ id, name }) => {
      onClose();
      notify(words.done(name));
      void navigate({ to: '/operator/teams/$teamId', params: { teamId: id } });
    },
  });
  return (
    <FormDialog title={words.create} form={form} submit={words.create} onClose={onClose}>
      <TextInput {...form.field('name')} label={words.name} autoComplete="off" required data-autofocus />
      <TextInput
        {...form.field('ownerId')}
        label={words.owner}
        description={words.ownerHint}
        autoComplete="off"
        required
      />
      <TextInput
        {...form.field('externalId')}
        label={texts.optional(areaTexts.externalId)}
        description={areaTexts.externalIdHint}
        autoComplete="off"
      />
    </FormDialog>
  );
}
