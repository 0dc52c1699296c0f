import { Button, Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCallForm } from '../../components/call-form.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { NewPassword, Username } from '../../components/new-password.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Section } from '../../components/section.tsx';
import { accountTexts } from '../../messages/account.ts';
import { query, trpc } from '../../trpc.ts';

export function Password({ email }: { readonly email: string | null }) {
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useCallForm({
    initialValues: { newPassword: '' },
    call: (values) => trpc.account.changePassword.mutate(values),
    onSuccess: () => {
      form.reset();
      notify(accountTexts.password.changed);
      void queries.invalidateQueries(query('sessions.list'));
    },
  });

  return (
    <Section anchor="password" title={accountTexts.password.title} explanation={accountTexts.password.explanation}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <Username email={email} />
          <NewPassword {...form.field('newPassword')} />
          <Group>
            <Button type="submit" variant="default" loading={form.pending}>
              {accountTexts.password.submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
