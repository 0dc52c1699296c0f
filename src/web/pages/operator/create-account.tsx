import { Checkbox, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { texts } from '../../messages/console.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc } from '../../trpc.ts';
import { orUndefined } from './values.ts';
import { useKept } from '../../kept.ts';

const words = areaTexts.accounts;

/** Creates an account, and opens its page. */
export function CreateAccount({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const notify = useNotice();
  const [isVerified, setVerified] = useKept('new verified', false);
  const form = useCallForm({
    isNew: true,
    initialValues: { email: '', firstName: '', lastName: '', externalId: '' },
    call: ({ email, firstName, lastName, externalId }) =>
      trpc.operator.createAccount.mutate({
        email,
        firstName: orUndefined(firstName),
        lastName: orUndefined(lastName),
        externalId: orUndefined(externalId),
        isEmailVerified: isVerified,
      }),
    onSuccess: ({ id }, { email }) => {
      onClose();
      notify(words.done(email));
      void navigate({ to: '/operator/accounts/$accountId', params: { accountId: id } });
    },
  });
  return (
    <FormDialog
      title={words.create}
      explanation={<Text size="sm">{words.noPassword}</Text>}
      form={form}
      submit={words.create}
      onClose={onClose}
    >
      <TextInput {...form.field('email')} type="email" label={words.email} autoComplete="off" required data-autofocus />
      <Checkbox
        label={words.isVerified}
        checked={isVerified}
        onChange={({ currentTarget }) => setVerified(currentTarget.checked)}
      />
      <TextInput {...form.field('firstName')} label={texts.optional(words.firstName)} autoComplete="off" />
      <TextInput {...form.field('lastName')} label={texts.optional(words.lastName)} autoComplete="off" />
      <TextInput
        {...form.field('externalId')}
        label={texts.optional(areaTexts.externalId)}
        description={areaTexts.externalIdHint}
        autoComplete="off"
      />
    </FormDialog>
  );
}
