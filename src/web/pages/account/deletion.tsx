import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { useCallForm } from '../../components/call-form.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Section } from '../../components/section.tsx';
import { useSessionStart } from '../../session.ts';
import { texts } from '../../messages/console.ts';
import { trpc } from '../../trpc.ts';

const words = texts.account.deletion;

export function Deletion() {
  const [asking, setAsking] = useState(false);
  return (
    <Section title={words.title} explanation={words.explanation}>
      <Group>
        <Button variant="outline" color="red" onClick={() => setAsking(true)}>
          {words.open}
        </Button>
      </Group>
      {asking && <DeletionDialog onClose={() => setAsking(false)} />}
    </Section>
  );
}

function DeletionDialog({ onClose }: { readonly onClose: () => void }) {
  const start = useSessionStart();
  const notify = useNotice();
  const form = useCallForm({
    initialValues: { password: '' },
    // An account may have no password: then the service asks for none.
    call: ({ password }) => trpc.account.delete.mutate(password === '' ? {} : { password }),
    onSuccess: () => {
      start('/sign-in');
      notify(words.done);
    },
    fieldOf: { password_wrong: 'password' },
  });
  return (
    <Dialog onClose={onClose} title={words.confirmTitle}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          <Text>{words.confirm}</Text>
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <PasswordInput
            {...form.field('password')}
            label={texts.password}
            autoComplete="current-password"
            data-autofocus
          />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" color="red" loading={form.pending}>
              {words.submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
