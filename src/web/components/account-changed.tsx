import { Button, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { forgetEntered } from '../kept.ts';
import { accountChangedTexts as words } from '../messages/proof.ts';
import { isAccountChanged } from '../trpc.ts';
import { DialogFooter } from './dialog-buttons.tsx';
import { Dialog } from './dialog.tsx';

/** Covers the page once a call was rejected because the browser is signed in as another account than it shows. */
export function AccountChanged() {
  const queries = useQueryClient();
  const [hasChanged, setHasChanged] = useState(false);
  useEffect(() => {
    const check = (event: { type: string; action?: object }) => {
      if (event.type !== 'updated' || event.action === undefined || !('error' in event.action)) return;
      if (isAccountChanged(event.action.error)) setHasChanged(true);
    };
    const endQueries = queries.getQueryCache().subscribe(check);
    const endMutations = queries.getMutationCache().subscribe(check);
    return () => {
      endQueries();
      endMutations();
    };
  }, [queries]);
  if (!hasChanged) return null;
  return (
    <Dialog
      onClose={() => undefined}
      title={words.title}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={400}
    >
      <Stack gap="md">
        <Text>{words.explanation}</Text>
        <DialogFooter>
          <Button
            data-autofocus
            onClick={() => {
              forgetEntered();
              window.location.reload();
            }}
          >
            {words.reload}
          </Button>
        </DialogFooter>
      </Stack>
    </Dialog>
  );
}
