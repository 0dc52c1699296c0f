import { Checkbox, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { texts } from '../../messages/console.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { orNull } from './values.ts';
import { useKept } from '../../kept.ts';

const words = areaTexts.accounts;

type EditAccountProps = {
  readonly account: Outputs['operator']['account'];
  readonly reread: () => Promise<unknown>;
  readonly onClose: () => void;
};

/** Changes the fields of an account that differ from the ones that the page shows. */
export function EditAccount({ account, reread, onClose }: EditAccountProps) {
  const notify = useNotice();
  const [shown] = useState(account);
  const isVerified = shown.emailVerified !== null;
  const [verifies, setVerifies] = useKept('verified', isVerified);
  const form = useCallForm({
    initialValues: {
      email: shown.email ?? '',
      firstName: shown.firstName ?? '',
      lastName: shown.lastName ?? '',
      externalId: shown.externalId ?? '',
    },
    call: async (values) => {
      const isNew = values.email.trim() !== (shown.email ?? '');
      const changed = (name: 'firstName' | 'lastName' | 'externalId') =>
        orNull(values[name]) === shown[name] ? {} : { [name]: orNull(values[name]) };
      await trpc.operator.updateAccount.mutate({
        accountId: shown.id,
        ...(isNew && { email: values.email.trim() }),
        ...(verifies && (isNew || !isVerified) && { isEmailVerified: true }),
        ...changed('firstName'),
        ...changed('lastName'),
        ...changed('externalId'),
      });
      await reread();
    },
    onSuccess: () => {
      onClose();
      notify(words.saved);
    },
    onError: () => void reread(),
  });
  return (
    <FormDialog title={words.edit} form={form} submit={texts.save} onClose={onClose}>
      <TextInput
        {...form.field('email')}
        type="email"
        label={words.email}
        description={words.emailHint}
        autoComplete="off"
        data-autofocus
      />
      <Checkbox
        label={words.isVerified}
        checked={verifies}
        onChange={({ currentTarget }) => setVerifies(currentTarget.checked)}
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
