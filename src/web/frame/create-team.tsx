import { useCreateTeam } from '#client/react';
import { Button, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useCallForm } from '../components/call-form.ts';
import { DialogButtons } from '../components/dialog-buttons.tsx';
import { Dialog } from '../components/dialog.tsx';
import { FailureAlert } from '../components/failure-alert.tsx';
import { useNotice } from '../components/notices.tsx';
import { texts } from '../messages/console.ts';

/** The dialog that creates a team, and then opens it. */
export function CreateTeam({ onClose }: { readonly onClose: () => void }) {
  const createTeam = useCreateTeam();
  const navigate = useNavigate();
  const notify = useNotice();
  const form = useCallForm({
    isNew: true,
    initialValues: { name: '', description: '' },
    call: ({ name, description }) =>
      createTeam.mutateAsync({ name: name.trim(), ...(description === '' ? {} : { description }) }),
    onSuccess: async ({ slug, name }) => {
      notify(texts.home.created(name));
      onClose();
      await navigate({ to: '/teams/$teamId', params: { teamId: slug } });
    },
  });
  return (
    <Dialog onClose={onClose} title={texts.home.createTitle}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <TextInput {...form.field('name')} label={texts.home.name} autoComplete="off" required data-autofocus />
          <TextInput {...form.field('description')} label={texts.optional(texts.home.description)} autoComplete="off" />
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
