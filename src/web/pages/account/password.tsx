import { Button, Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCallForm } from '../../components/call-form.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { NewPassword, Username } from '../../components/new-password.tsx';
import { useNotice } from '../../components/notices.tsx';
import { RemainingAccess } from '../../components/remaining-access.tsx';
import { Section } from '../../components/section.tsx';
import { accountTexts } from '../../messages/account.ts';
import { query, trpc, type Outputs } from '../../trpc.ts';

export function Password({ email }: { readonly email: string | null }) {
  const queries = useQueryClient();
  const notify = useNotice();
  const [remaining, setRemaining] = useState<Outputs['account']['changePassword']>();
  /** What the page lists elsewhere ends with it. */
  const reload = () => void queries.invalidateQueries();
  const form = useCallForm({
    initialValues: { newPassword: '' },
    call: (values) => trpc.account.changePassword.mutate(values),
    onSuccess: (output) => {
      setRemaining(output);
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
      {remaining !== undefined && <RemainingAccess key={remaining.revocationToken} {...remaining} onRevoked={reload} />}
    </Section>
  );
}
