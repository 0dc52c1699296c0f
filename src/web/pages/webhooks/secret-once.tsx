import { Alert, Button, Stack } from '@mantine/core';
import { Copyable } from '../../components/copyable.tsx';
import { DialogFooter } from '../../components/dialog-buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import type { NewSecret } from './endpoints.ts';

type SecretOnceProps = NewSecret & { readonly title: string; readonly onClose: () => void };

/** What verifies signatures. A shared secret is shown only once, so the dialog closes only by its button. */
export const SecretOnce = ({ title, endpoint, secret, onClose }: SecretOnceProps) => (
  <Dialog onClose={onClose} title={title} closeOnClickOutside={false} closeOnEscape={false} withCloseButton={false}>
    <Stack gap="md">
      {secret !== null && (
        <Alert color="yellow" title={words.onceTitle}>
          {words.once}
        </Alert>
      )}
      <dl className="values">
        <Value
          label={secret === null ? words.publicKey : words.secret}
          value={secret ?? endpoint.publicKey ?? ''}
          isFirst
        />
        <Value label={words.url} value={endpoint.url} />
      </dl>
      <DialogFooter>
        <Button onClick={onClose}>{words.done}</Button>
      </DialogFooter>
    </Stack>
  </Dialog>
);

type ValueProps = { readonly label: string; readonly value: string; readonly isFirst?: boolean };

const Value = ({ label, value, isFirst = false }: ValueProps) => (
  <div>
    <dt>{label}</dt>
    <dd>
      <Copyable label={label} value={value} isFirst={isFirst} />
    </dd>
  </div>
);
