import { Alert, Button, Stack } from '@mantine/core';
import { Copyable } from '../../components/copyable.tsx';
import { DialogFooter } from '../../components/dialog-buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';

type SecretProps = { readonly title: string; readonly secret: string; readonly onClose: () => void };

/** The secret of an operator key. It is shown only once, so the dialog closes only by its button. */
export const OperatorSecretOnce = ({ title, secret, onClose }: SecretProps) => (
  <Dialog onClose={onClose} title={title} closeOnClickOutside={false} closeOnEscape={false} withCloseButton={false}>
    <Stack gap="md">
      <Alert color="yellow" title={words.onceTitle}>
        {words.once}
      </Alert>
      <Copyable label={words.secret} value={secret} isFirst />
      <DialogFooter>
        <Button onClick={onClose}>{words.done}</Button>
      </DialogFooter>
    </Stack>
  </Dialog>
);
