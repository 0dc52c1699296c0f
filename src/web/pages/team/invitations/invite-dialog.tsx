import { useInviteMany } from '#client/react';
import { Alert, Button, Stack, Text, Textarea } from '@mantine/core';
import { useEffect, useRef, useState, type SubmitEvent } from 'react';
import { DialogFooter } from '../../../components/dialog-buttons.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { texts } from '../../../messages/console.ts';
import { invitationsTexts } from '../../../messages/invitations.ts';
import { useTeam } from '../team.ts';
import { parseAddresses } from './addresses.ts';
import { AlreadyMembers, useAddressees } from './already-members.tsx';
import { Results } from './results.tsx';
import { RolePicker } from './role-picker.tsx';
import '../invitations.css';
import { useKept } from '../../../kept.ts';

const words = invitationsTexts.dialog;

type InviteDialogProps = {
  readonly email: string;
  readonly roleId?: string;
  readonly onClose: () => void;
};

/** Invites one or several emails with one role. Emails that failed stay in the field for correction. */
export function InviteDialog({ email, roleId, onClose }: InviteDialogProps) {
  const { team, roles: all } = useTeam();
  const roles = all.filter(({ isAssignable }) => isAssignable);
  const [text, setText] = useKept('new addresses', email);
  const [chosen, setChosen] = useKept('new role', roleId ?? 'member');
  const [isEmpty, setEmpty] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const closing = useRef<HTMLButtonElement>(null);
  const { results, isPending: pending, invite } = useInviteMany(team.id);
  const role = roles.find((each) => each.roleId === chosen) ?? roles[0];
  const addressees = useAddressees(parseAddresses(text));
  const addresses = addressees.invited;
  const sent = results.filter(({ state }) => state === 'sent').length;
  const failed = results.filter(({ state }) => state === 'failed').length;
  const isDone = !pending && sent > 0 && failed === 0 && addresses.length === 0;

  // The button that had the focus is no longer there.
  useEffect(() => {
    if (isDone) closing.current?.focus();
  }, [isDone]);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (pending || role === undefined) return;
    setEmpty(addresses.length === 0);
    const refused = addresses.length === 0 ? [] : await invite(addresses, role);
    if (addresses.length > 0) setText(refused.join('\n'));
    if (addresses.length === 0 || refused.length > 0) field.current?.focus();
  }

  // Only the button closes it, because links are shown once and sending continues.
  const isKept = pending || sent > 0;
  return (
    <Dialog
      onClose={onClose}
      title={invitationsTexts.invite}
      size="lg"
      closeOnClickOutside={!isKept}
      closeOnEscape={!isKept}
      withCloseButton={!isKept}
    >
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack gap="md">
          {role === undefined && <Alert color="yellow">{words.noRoles}</Alert>}
          {results.length > 0 && <Results results={results} />}
          {sent > 0 && (
            <Text size="sm" c="dimmed">
              {words.copyHint}
            </Text>
          )}
          {role !== undefined && !isDone && (
            <>
              <Textarea
                ref={field}
                label={words.addresses}
                description={failed > 0 && !pending ? words.corrected : words.addressesHint}
                error={isEmpty && addresses.length === 0 ? words.none : undefined}
                value={text}
                onChange={(event) => setText(event.currentTarget.value)}
                readOnly={pending}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                size="md"
                rows={3}
                required
                withAsterisk={false}
                data-autofocus
              />
              <AlreadyMembers {...addressees} />
              <RolePicker roles={roles} value={role.roleId} onChange={setChosen} disabled={pending} />
            </>
          )}
          <DialogFooter>
            <Text size="sm" role="status" className="invite-progress">
              {!pending && results.length > 0 && words.progress({ sent, failed })}
            </Text>
            <Button ref={closing} variant={isDone ? 'filled' : 'default'} onClick={onClose} disabled={pending}>
              {sent > 0 ? words.done : texts.cancel}
            </Button>
            {role !== undefined && !isDone && (
              <Button type="submit" loading={pending}>
                {words.submit(addresses.length)}
              </Button>
            )}
          </DialogFooter>
        </Stack>
      </form>
    </Dialog>
  );
}
