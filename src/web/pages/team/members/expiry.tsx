import { useChangeMember } from '#client/react';
import { Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCallForm } from '../../../components/call-form.ts';
import { useDates } from '../../../components/dates.ts';
import { FormDialog } from '../../../components/form-dialog.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { texts } from '../../../messages/console.ts';
import { membersTexts as words } from '../../../messages/members.ts';
import { useTeam } from '../team.ts';
import { getMemberName, type Member } from './member.ts';

/** Returns the end of a day, such as `2027-01-31`, in the user’s time zone. */
const getEndOfDay = (day: string): string => new Date(`${day}T23:59:59`).toISOString();

const pad = (number: number): string => String(number).padStart(2, '0');
const getDay = (date: Date): string => `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;

export function Expiry({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const { team } = useTeam();
  const { day } = useDates();
  const notify = useNotice();
  const change = useChangeMember(team.id);
  const name = getMemberName(member);
  const { accountId, expiresAt: current } = member;
  const [today] = useState(() => getDay(new Date()));
  const form = useCallForm({
    initialValues: { expiresAt: current === null ? '' : getDay(new Date(current)) },
    call: async ({ expiresAt: lastDay }) => {
      const expiresAt = lastDay === '' ? '' : getEndOfDay(lastDay);
      await change.mutateAsync({ accountId, expiresAt });
      return expiresAt;
    },
    onSuccess: (expiresAt) => {
      onClose();
      notify(words.expirySet({ member: name, date: day(expiresAt) }));
    },
  });
  return (
    <FormDialog
      title={words.expiryTitle(name)}
      form={form}
      explanation={<Text size="sm">{words.expiryExplanation}</Text>}
      submit={texts.save}
      onClose={onClose}
    >
      <TextInput
        {...form.field('expiresAt')}
        type="date"
        label={words.expiryDay}
        description={words.expiryHint}
        min={today}
        max="9999-12-31"
        data-autofocus
      />
    </FormDialog>
  );
}
