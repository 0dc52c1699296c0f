import { Alert, Button, Stack, Text } from '@mantine/core';
import { Copyable } from '../../components/copyable.tsx';
import { DialogFooter } from '../../components/dialog-buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { developerTexts as words } from '../../messages/oauth.ts';

type CredentialsProps = {
  readonly title: string;
  readonly client: { readonly id: string };
  readonly clientSecret: string | null;
  readonly onClose: () => void;
};

/** The credentials of a client. The secret is shown only once, so the dialog closes only by its button. */
export const Credentials = ({ title, client, clientSecret, onClose }: CredentialsProps) => (
  <Dialog onClose={onClose} title={title} closeOnClickOutside={false} closeOnEscape={false} withCloseButton={false}>
    <Stack gap="md">
      {clientSecret !== null && (
        <Alert color="yellow" title={words.onceTitle}>
          {words.once}
        </Alert>
      )}
      <dl className="values">
        <div>
          <dt>{words.clientId}</dt>
          <dd>
            <Copyable label={words.clientId} value={client.id} />
          </dd>
        </div>
        {clientSecret !== null && (
          <div>
            <dt>{words.clientSecret}</dt>
            <dd>
              <Copyable label={words.clientSecret} value={clientSecret} isFirst />
            </dd>
          </div>
        )}
      </dl>
      {clientSecret === null && <Text size="sm">{words.noSecret}</Text>}
      <DialogFooter>
        <Button onClick={onClose} data-autofocus={clientSecret === null || undefined}>
          {words.done}
        </Button>
      </DialogFooter>
    </Stack>
  </Dialog>
);
