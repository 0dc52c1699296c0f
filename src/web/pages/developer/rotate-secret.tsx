import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCallForm } from '../../parts/call-form.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureAlert } from '../../parts/failure-alert.tsx';
import { texts } from '../../texts.ts';
import { developerTexts as words } from '../../texts/oauth.ts';
import { query, trpc, type Outputs } from '../../trpc.ts';
import { Credentials } from './credentials.tsx';

type RotateSecretProps = { readonly client: Outputs['oauthClients']['list'][number]; readonly onClose: () => void };

/** Changes the secret; with an overlap the one before works until the application has the new one. */
export function RotateSecret({ client, onClose }: RotateSecretProps) {
  const [rotated, setRotated] = useState<Outputs['oauthClients']['rotateSecret']>();
  const queries = useQueryClient();
  const form = useCallForm({
    initialValues: { overlapHours: '24' },
    call: ({ overlapHours }) =>
      trpc.oauthClients.rotateSecret.mutate({ clientId: client.id, overlapHours: Number(overlapHours) }),
    onSuccess: (output) => {
      setRotated(output);
      void queries.invalidateQueries(query('oauthClients.list'));
    },
  });
  if (rotated !== undefined) return <Credentials title={words.secretTitle} {...rotated} onClose={onClose} />;
  return (
    <Dialog onClose={onClose} title={words.rotateTitle}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          <Text>{words.rotateExplanation}</Text>
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <NativeSelect
            {...form.field('overlapHours')}
            label={words.overlap}
            description={words.overlapHint}
            data={Object.entries(words.overlaps).map(([value, label]) => ({ value, label }))}
            data-autofocus
          />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={form.pending}>
              {words.rotateSubmit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
