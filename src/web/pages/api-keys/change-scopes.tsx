import { Button, Stack, Text } from '@mantine/core';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { useQueryClient } from '@tanstack/react-query';
import { Dialog } from '../../components/dialog.tsx';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { useNotice } from '../../components/notices.tsx';
import { keysQuery } from '../../page-queries.ts';
import { texts } from '../../messages/console.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { toFailure, trpc, type Scope } from '../../trpc.ts';
import type { Key } from './keys.ts';
import { ScopesField } from './scopes-field.tsx';
import { useSubmission } from '../../components/submission.ts';
import { useKept } from '../../kept.ts';

type ChangeScopesProps = { readonly apiKey: Key; readonly onClose: () => void };

/** Replaces the scopes of a key of the user. */
export function ChangeScopes({ apiKey: { id, name, teamId, scopes }, onClose }: ChangeScopesProps) {
  const [ticked, setTicked] = useKept<readonly Scope[]>('scopes', scopes);
  const queries = useQueryClient();
  const notify = useNotice();
  const change = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.updateApiKey.mutate({ keyId: id, scopes: [...ticked] }),
    onSuccess: async () => {
      await queries.invalidateQueries(keysQuery(teamId ?? undefined));
      onClose();
      notify(words.changed);
    },
  });
  const isSame = ticked.length === scopes.length && scopes.every((scope) => ticked.includes(scope));
  return (
    <Dialog onClose={onClose} title={words.changeTitle(name)}>
      <Stack gap="md">
        <Text size="sm">{words.changeHint}</Text>
        {change.error !== null && <FailureAlert failure={toFailure(change.error)} />}
        <ScopesField teamId={teamId} ticked={ticked} onChange={setTicked} noScopes={words.noScopes} />
        <DialogButtons onCancel={onClose} focusCancel>
          <Button loading={change.isPending} disabled={ticked.length === 0 || isSame} onClick={() => change.submit()}>
            {texts.save}
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  );
}
