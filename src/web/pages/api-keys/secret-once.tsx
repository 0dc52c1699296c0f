import { Alert, Button, Stack } from '@mantine/core';
import { Copyable } from '../../components/copyable.tsx';
import { DialogFooter } from '../../components/dialog-buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';

type SecretOnceProps = { readonly title: string; readonly secret: string; readonly onClose: () => void };

/** The secret of a key with an example call. It is shown only once, so the dialog closes only by its button. */
export const SecretOnce = ({ title, secret, onClose }: SecretOnceProps) => (
  <Dialog onClose={onClose} title={title} closeOnClickOutside={false} closeOnEscape={false} withCloseButton={false}>
    <Stack gap="md">
      <Alert color="yellow" title={words.onceTitle}>
        {words.once}
      </Alert>
      <dl className="values">
        <div>
          <dt>{words.secret}</dt>
          <dd>
            <Copyable label={words.secret} value={secret} isFirst />
          </dd>
        </div>
        <div>
          <dt>{words.curl}</dt>
          <dd>
            <Copyable label={words.curl} value={createCurl(secret)} />
          </dd>
        </div>
      </dl>
      <DialogFooter>
        <Button onClick={onClose}>{words.done}</Button>
      </DialogFooter>
    </Stack>
  </Dialog>
);

/** A call that every key can make, whatever its scopes. */
const createCurl = (secret: string): string =>
  `curl -H 'Authorization: Bearer ${secret}' ${window.location.origin}/api/v1/credential`;
