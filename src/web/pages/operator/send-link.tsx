import { NativeSelect, Text } from '@mantine/core';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Outputs } from '../../trpc.ts';

const words = areaTexts.accounts;

type Kind = keyof typeof words.links;
type SendLinkProps = { readonly account: Outputs['operator']['account']; readonly onClose: () => void };

/** Emails a link to the owner of an account. */
export function SendLink({ account: { id, email, emailVerified }, onClose }: SendLinkProps) {
  const notify = useNotice();
  const kinds = (Object.keys(words.links) as Kind[]).filter(
    (kind) => kind !== 'verify_email' || emailVerified === null,
  );
  const form = useCallForm({
    initialValues: { kind: 'sign_in' },
    call: ({ kind }) => trpc.operator.sendLink.mutate({ accountId: id, kind: kind as Kind }), // an option below
    onSuccess: () => {
      onClose();
      notify(words.linkSent);
    },
  });
  return (
    <FormDialog
      title={words.linkTitle}
      form={form}
      explanation={<Text size="sm">{words.linkExplanation(email ?? '')}</Text>}
      submit={words.linkSubmit}
      onClose={onClose}
    >
      <NativeSelect
        {...form.field('kind')}
        label={words.linkKind}
        data={kinds.map((value) => ({ value, label: words.links[value] }))}
        data-autofocus
      />
    </FormDialog>
  );
}
