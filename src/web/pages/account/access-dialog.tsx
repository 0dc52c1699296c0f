import { Button, Stack, Text } from '@mantine/core';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { useNotice } from '../../components/notices.tsx';
import { ScopeChoice } from '../../components/scope-choice.tsx';
import { texts } from '../../messages/console.ts';
import { connectedAppsTexts as words } from '../../messages/oauth.ts';
import { toFailure, query, trpc, type Outputs, type Scope } from '../../trpc.ts';
import { useSubmission } from '../../components/submission.ts';

type AccessDialogProps = { readonly grant: Outputs['grants']['list'][number]; readonly onClose: () => void };

/** Removes scopes from a grant. None can be added. */
export function AccessDialog({ grant, onClose }: AccessDialogProps) {
  const [ticked, setTicked] = useState<readonly Scope[]>(grant.scopes);
  const queries = useQueryClient();
  const notify = useNotice();
  const narrow = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.grants.narrow.mutate({ grantId: grant.id, scopes: [...ticked] }),
    onSuccess: async () => {
      await queries.invalidateQueries(query('grants.list'));
      onClose();
      notify(words.changed);
    },
  });
  return (
    <Dialog onClose={onClose} title={words.changeTitle(grant.client.name)}>
      <Stack gap="lg">
        <Text size="sm">{words.changeExplanation}</Text>
        {narrow.error !== null && <FailureAlert failure={toFailure(narrow.error)} />}
        <ScopeChoice label={words.still} scopes={grant.scopes} ticked={ticked} onChange={setTicked} />
        <Text size="sm" c="dimmed" role="status">
          {ticked.length === 0 && words.noScopes}
        </Text>
        <DialogButtons onCancel={onClose} focusCancel>
          <Button
            loading={narrow.isPending}
            disabled={ticked.length === 0 || ticked.length === grant.scopes.length}
            onClick={() => narrow.submit()}
          >
            {texts.save}
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  );
}
