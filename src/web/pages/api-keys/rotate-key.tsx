import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCallForm } from '../../parts/call-form.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureAlert } from '../../parts/failure-alert.tsx';
import { texts } from '../../texts.ts';
import { apiKeysTexts as words } from '../../texts/api-keys.ts';
import { trpc } from '../../trpc.ts';
import { keysOf, type Key, type NewSecret } from './keys.ts';
import { SecretOnce } from './secret-once.tsx';

type RotateKeyProps = { readonly apiKey: Key; readonly onClose: () => void };

/** Changes the secret; with an overlap the one before works until everything has the new one. */
export function RotateKey({ apiKey: { id, name, teamId }, onClose }: RotateKeyProps) {
  const [rotated, setRotated] = useState<NewSecret>();
  const queries = useQueryClient();
  const form = useCallForm({
    initialValues: { overlapHours: '24' },
    call: ({ overlapHours }) => trpc.apiKeys.rotate.mutate({ keyId: id, overlapHours: Number(overlapHours) }),
    onSuccess: (output) => {
      setRotated(output);
      void queries.invalidateQueries(keysOf(teamId ?? undefined));
    },
  });
  if (rotated !== undefined)
    return <SecretOnce title={words.rotatedTitle(name)} secret={rotated.secret} onClose={onClose} />;
  return (
    <Dialog onClose={onClose} title={words.rotateTitle}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          <Text className="wrap">{words.rotateExplanation(name)}</Text>
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
              {words.rotateTitle}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
