import { Button, Stack, Text, TextInput } from '@mantine/core';
import { DialogButtons } from '../../../components/dialog-buttons.tsx';
import { useState } from 'react';
import { Dialog } from '../../../components/dialog.tsx';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { useSubmission } from '../../../components/submission.ts';
import { settingsTexts } from '../../../messages/settings.ts';
import { toFailure, trpc } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam } from '../team.ts';
import { useTeamEnded } from './changes.ts';

const words = settingsTexts.deletion;

/** Deletes the team after its name was typed. */
export function DeleteTeam({ onClose }: { readonly onClose: () => void }) {
  const { team } = useTeam();
  const [typed, setTyped] = useState('');
  const end = useTeamEnded();
  const refresh = useTeamRefresh();
  const deletion = useSubmission({
    mutationFn: () => trpc.teams.delete.mutate({ teamId: team.id }),
    onSuccess: () => end(words.done(team.name)),
    onError: () => void refresh(),
  });
  const isTyped = asSeen(typed) === asSeen(team.name);
  return (
    <Dialog onClose={onClose} title={words.confirmTitle(team.name)}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isTyped) deletion.submit();
        }}
      >
        <Stack gap="md">
          <div>
            <Text>{words.goes}</Text>
            <ul className="facts">
              {Object.values(words.parts).map((part) => (
                <li key={part}>{part}</li>
              ))}
            </ul>
          </div>
          {deletion.error !== null && <FailureAlert failure={toFailure(deletion.error)} />}
          <TextInput
            label={words.type}
            description={team.name}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            data-autofocus
          />
          <DialogButtons onCancel={onClose}>
            <Button type="submit" color="red" disabled={!isTyped} loading={deletion.isPending}>
              {words.submit}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Collapses blanks, because pages show several blanks as one. */
const asSeen = (name: string): string => name.normalize('NFKC').replaceAll(/\s+/g, ' ').trim();
