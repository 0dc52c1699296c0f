import { Button, Stack, Text, TextInput } from '@mantine/core';
import { DialogButtons } from '../../../components/dialog-buttons.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { useSubmission } from '../../../components/submission.ts';
import { settingsTexts } from '../../../messages/settings.ts';
import { toFailure, trpc } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam } from '../team.ts';
import { useTeamEnded } from './changes.ts';
import { useKept } from '../../../kept.ts';
import { neutralize } from '../../../../messages/neutralize.ts';

const words = settingsTexts.deletion;

/** Deletes the team after its name was typed. */
export function DeleteTeam({ onClose }: { readonly onClose: () => void }) {
  const { team } = useTeam();
  const [typed, setTyped] = useKept('typed', '');
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
            description={neutralize(team.name)}
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

/** Leaves out what pages do not show: invisible characters, and all but one of several blanks. */
const asSeen = (name: string): string => neutralize(name).normalize('NFKC').replaceAll(/\s+/g, ' ').trim();
