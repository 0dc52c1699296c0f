import { Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useCallForm } from '../../components/call-form.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { useNotice } from '../../components/notices.tsx';
import { ResendVerification } from '../../components/resend-verification.tsx';
import { Section } from '../../components/section.tsx';
import { accountTexts } from '../../messages/account.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { Name } from '../../components/name.tsx';

export function EmailAddress({ account: { email, emailVerified } }: { readonly account: Outputs['getMe'] }) {
  const notify = useNotice();
  const form = useCallForm({
    initialValues: { newEmail: '' },
    call: (values) => trpc.account.changeEmail.mutate(values),
    onSuccess: (_output, { newEmail }) => {
      form.reset();
      notify(accountTexts.email.sent(newEmail));
    },
  });

  return (
    <Section anchor="email" title={accountTexts.email.title} explanation={accountTexts.email.explanation}>
      {email !== null && (
        <div>
          <Text size="sm" c="dimmed">
            {accountTexts.email.current}
          </Text>
          <Group gap="xs">
            <Text fw={600} className="wrap">
              <Name>{email}</Name>
            </Text>
            <Badge variant="light" color={emailVerified === null ? 'yellow' : 'teal'} tt="none">
              {emailVerified === null ? accountTexts.email.unverified : accountTexts.email.verified}
            </Badge>
          </Group>
        </div>
      )}
      {email !== null && emailVerified === null && (
        <Group>
          <ResendVerification email={email} />
        </Group>
      )}
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <TextInput
            {...form.field('newEmail')}
            type="email"
            label={accountTexts.email.new}
            autoComplete="email"
            required
          />
          <Group>
            <Button type="submit" variant="default" loading={form.pending}>
              {accountTexts.email.submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
