import { Alert, Button, EmptyState } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCommandedDialog } from '../../components/commanded-dialog.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Key as KeyIcon } from '../../components/icon.tsx';
import { DataTable } from '../../components/table/data-table.tsx';
import { useRowDialogs } from '../../components/table/row-dialogs.ts';
import { Page, Placeholder } from '../../components/page.tsx';
import { keysQuery } from '../../page-queries.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { query, toFailure } from '../../trpc.ts';
import { CreateKey } from './create-key.tsx';
import { keyRevocation } from './bulk.ts';
import { keyColumns } from './columns.tsx';
import { KeyDialog } from './key-dialog.tsx';
import { KeyMenu, type KeyAction } from './key-menu.tsx';
import { getKeyState, type Key, type TeamId } from './keys.ts';
import './api-keys.css';
import { useKept } from '../../kept.ts';

const rowId = ({ id }: Key): string => id;
const rowName = ({ name }: Key): string => name;

/** Warns of own keys that end soon, and of those of the team. */
function Expiring({ keys }: { readonly keys: readonly Key[] }) {
  const names = keys.filter((key) => getKeyState(key) === 'expiring').map(({ name }) => name);
  return (
    names.length > 0 && (
      <Alert color="yellow" title={words.expiringTitle(names.length)}>
        {words.expiring}
      </Alert>
    )
  );
}

/** The personal keys of the user, or the keys of a team. */
export function KeysPage({ teamId }: { readonly teamId: TeamId }) {
  const keys = useQuery(keysQuery(teamId));
  const queries = useQueryClient();
  const [creating, setCreating] = useKept('creating', false);
  const { asked, ask, close } = useRowDialogs<Key, KeyAction>(rowId);
  const isOfTeam = teamId !== undefined;
  useCommandedDialog('createKey', () => setCreating(true));
  const create = <Button onClick={() => setCreating(true)}>{words.create}</Button>;
  return (
    <Page
      isWide
      title={isOfTeam ? words.teamTitle : words.title}
      explanation={isOfTeam ? words.teamExplanation : words.explanation}
      action={keys.data !== undefined && keys.data.length > 0 && create}
    >
      {keys.error !== null && <FailureAlert failure={toFailure(keys.error)} retry={() => void keys.refetch()} />}
      {keys.isPending && <Placeholder rows={2} height={72} />}
      {keys.data !== undefined && (
        <>
          <Expiring keys={keys.data} />
          <DataTable
            name={isOfTeam ? words.teamTitle : words.title}
            rows={keys.data}
            columns={keyColumns}
            rowId={rowId}
            rowName={rowName}
            texts={words.table}
            icon={<KeyIcon />}
            empty={
              <EmptyState
                variant="light"
                icon={<KeyIcon />}
                title={isOfTeam ? words.teamEmptyTitle : words.emptyTitle}
                description={isOfTeam ? words.teamEmpty : words.empty}
              >
                <EmptyState.Actions>{create}</EmptyState.Actions>
              </EmptyState>
            }
            actions={(key) => <KeyMenu apiKey={key} onAction={(action) => ask(action, key)} />}
            bulk={[keyRevocation]}
            onBulkEnd={() => {
              void queries.invalidateQueries(keysQuery(teamId));
              void queries.invalidateQueries(query('teams.notices'));
            }}
          />
        </>
      )}
      {asked && <KeyDialog action={asked.kind} apiKey={asked.row} onClose={close} />}
      {creating && <CreateKey teamId={teamId} onClose={() => setCreating(false)} />}
    </Page>
  );
}
