import { Text, TextInput } from '@mantine/core';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { findAccountReference } from './values.ts';

const words = areaTexts.teams;

type TransferTeamProps = {
  readonly team: Outputs['operator']['team'];
  readonly reread: () => Promise<unknown>;
  readonly onClose: () => void;
};

/** Gives a team another owner. */
export function TransferTeam({ team: { id, name }, reread, onClose }: TransferTeamProps) {
  const notify = useNotice();
  const form = useCallForm({
    initialValues: { accountId: '' },
    call: async ({ accountId }) => {
      await trpc.operator.transferTeam.mutate({ teamId: id, accountId: await findAccountReference(accountId) });
      await reread();
    },
    fieldOf: { account_not_found: 'accountId', email_not_verified: 'accountId' },
    onSuccess: () => {
      onClose();
      notify(words.transferred);
    },
    onError: () => void reread(),
  });
  return (
    <FormDialog
      title={words.transferTitle(name)}
      form={form}
      explanation={<Text size="sm">{words.transferExplanation}</Text>}
      submit={words.transferSubmit}
      onClose={onClose}
    >
      <TextInput
        {...form.field('accountId')}
        label={words.owner}
        description={words.ownerHint}
        autoComplete="off"
        required
        data-autofocus
      />
    </FormDialog>
  );
}
