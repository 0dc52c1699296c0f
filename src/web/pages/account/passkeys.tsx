import { Button, Group, Menu, Stack, Text, TextInput } from '@mantine/core';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Dialog } from '../../components/dialog.tsx';
import { useCallForm } from '../../components/call-form.ts';
import { Confirmation } from '../../components/confirmation.tsx';
import { useDates } from '../../components/dates.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Key } from '../../components/icon.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Placeholder } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { addPasskey, passkeyErrorText, supportsPasskeys } from '../../passkeys.ts';
import { accountTexts } from '../../messages/account.ts';
import { texts } from '../../messages/console.ts';
import { toFailure, query, trpc, type Outputs } from '../../trpc.ts';
import { SEPARATOR } from '../../messages/language.ts';
import { useKept } from '../../kept.ts';
import { Name } from '../../components/name.tsx';

type Passkey = Outputs['passkeys']['list'][number];

const words = accountTexts.passkeys;

export function Passkeys() {
  const passkeys = useQuery(query('passkeys.list'));
  const [adding, setAdding] = useKept('adding', false);
  return (
    <Section anchor="passkeys" title={words.title} explanation={words.explanation}>
      {passkeys.error !== null && (
        <FailureAlert failure={toFailure(passkeys.error)} retry={() => void passkeys.refetch()} />
      )}
      {passkeys.isPending && <Placeholder rows={1} />}
      {passkeys.data?.length === 0 && <Text c="dimmed">{words.none}</Text>}
      {passkeys.data !== undefined && passkeys.data.length > 0 && (
        <ul className="rows">
          {passkeys.data.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} />
          ))}
        </ul>
      )}
      {supportsPasskeys() ? (
        <Group>
          <Button variant="default" onClick={() => setAdding(true)}>
            {words.add}
          </Button>
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          {words.unsupported}
        </Text>
      )}
      {adding && (
        <NameDialog
          title={words.add}
          name=""
          submit={words.add}
          done={words.added}
          call={addPasskey}
          onClose={() => setAdding(false)}
        />
      )}
    </Section>
  );
}

function PasskeyRow({ passkey: { id, name, createdAt, lastUsedAt } }: { readonly passkey: Passkey }) {
  const { day } = useDates();
  const queries = useQueryClient();
  const notify = useNotice();
  const [dialog, setDialog] = useKept<'rename' | 'remove' | undefined>(`dialog of ${id}`, undefined);
  const close = () => setDialog(undefined);
  return (
    <li className="row">
      <span className="row-icon">
        <Key />
      </span>
      <div className="row-text">
        <Text fw={600} className="wrap">
          <Name>{name}</Name>
        </Text>
        <Text size="sm" c="dimmed">
          {words.created(day(createdAt))}
          {SEPARATOR}
          {lastUsedAt === null ? words.unused : words.used(day(lastUsedAt))}
        </Text>
      </div>
      <RowMenu name={name} id={id}>
        <Menu.Item onClick={() => setDialog('rename')} aria-label={words.renameOf(name)}>
          {words.rename}
        </Menu.Item>
        <Menu.Item className="data-danger" onClick={() => setDialog('remove')} aria-label={words.removeOf(name)}>
          {words.remove}
        </Menu.Item>
      </RowMenu>
      {dialog === 'rename' && (
        <NameDialog
          title={words.rename}
          name={name}
          submit={texts.save}
          done={words.renamed}
          call={(renamed) => trpc.passkeys.rename.mutate({ id, name: renamed })}
          onClose={close}
        />
      )}
      {dialog === 'remove' && (
        <Confirmation
          title={words.removeTitle}
          explanation={words.removeExplanation(name)}
          submit={words.remove}
          call={() => trpc.passkeys.remove.mutate({ id })}
          onSuccess={() => {
            close();
            notify(words.removed);
            void queries.invalidateQueries(query('passkeys.list'));
          }}
          onClose={close}
        />
      )}
    </li>
  );
}

type NameDialogProps = {
  readonly title: string;
  readonly name: string;
  readonly submit: string;
  readonly done: string;
  readonly call: (name: string) => Promise<Passkey>;
  readonly onClose: () => void;
};

function NameDialog({ title, name, submit, done, call, onClose }: NameDialogProps) {
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useCallForm({
    initialValues: { name },
    call: (values) => call(values.name),
    onSuccess: () => {
      onClose();
      notify(done);
      void queries.invalidateQueries(query('passkeys.list'));
    },
  });
  const passkeyError = passkeyErrorText(form.error, 'notCreated');
  return (
    <Dialog onClose={onClose} title={title}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          {passkeyError === undefined ? (
            form.failure !== undefined && <FailureAlert failure={form.failure} />
          ) : (
            <Text size="sm" role="alert">
              {passkeyError}
            </Text>
          )}
          <TextInput
            {...form.field('name')}
            label={words.name}
            description={words.nameHint}
            autoComplete="off"
            required
            data-autofocus
          />
          <DialogButtons onCancel={onClose}>
            <Button type="submit" loading={form.pending}>
              {submit}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  );
}
