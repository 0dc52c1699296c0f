import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirmation } from '../../components/confirmation.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Page } from '../../components/page.tsx';
import { Rotation } from '../../components/rotation.tsx';
import { useRowDialogs } from '../../components/table/row-dialogs.ts';
import { useKept } from '../../kept.ts';
import { developerTexts } from '../../messages/oauth.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, trpc } from '../../trpc.ts';
import { Credentials } from '../developer/credentials.tsx';
import { ClientMenu, clientColumns, type ClientDialog, type OperatorClient } from './client-columns.tsx';
import { CreateOperatorClient, EditOperatorClient } from './client-forms.tsx';
import { ListTable } from './list.tsx';
import { Operators } from './operators.tsx';

const words = areaTexts.clients;

const rowId = ({ id }: OperatorClient): string => id;
const rowName = ({ name }: OperatorClient): string => name;

/** The OAuth clients of the operator. */
export const OperatorClientsPage = () => (
  <Operators>
    <OperatorClients />
  </Operators>
);

function OperatorClients() {
  const page = useQuery({ ...query('operator.listClients'), staleTime: 0 });
  const [creating, setCreating] = useKept('creating', false);
  const { asked, ask, close } = useRowDialogs<OperatorClient, ClientDialog>(rowId);
  return (
    <Page
      isWide
      title={words.title}
      explanation={words.explanation}
      action={page.data && <Button onClick={() => setCreating(true)}>{developerTexts.create}</Button>}
    >
      <ListTable
        label={words.title}
        page={page}
        items={({ clients }) => clients}
        columns={clientColumns}
        rowId={rowId}
        rowName={rowName}
        actions={(client) => <ClientMenu client={client} onAction={ask} />}
        empty={{ title: areaTexts.list.emptyTitle, description: words.explanation }}
        cursor={undefined}
        next={null}
      />
      {creating && <CreateOperatorClient reread={page.refetch} onClose={() => setCreating(false)} />}
      {asked && <ClientDialogs kind={asked.kind} client={asked.row} reread={page.refetch} onClose={close} />}
    </Page>
  );
}

type DialogsProps = {
  readonly kind: ClientDialog;
  readonly client: OperatorClient;
  readonly reread: () => Promise<unknown>;
  readonly onClose: () => void;
};

/** Changes a client, rotates its secret, which is shown once, or deletes it. */
function ClientDialogs({ kind, client, reread, onClose }: DialogsProps) {
  const { id: clientId, name } = client;
  const notify = useNotice();
  const [clientSecret, setSecret] = useState<string | null>();
  if (clientSecret !== undefined)
    return (
      <Credentials title={developerTexts.secretTitle} client={client} clientSecret={clientSecret} onClose={onClose} />
    );
  if (kind === 'edit') return <EditOperatorClient client={client} reread={reread} onClose={onClose} />;
  if (kind === 'rotate')
    return (
      <Rotation
        explanation={developerTexts.rotateExplanation}
        call={(overlapHours) => trpc.operator.rotateClientSecret.mutate({ clientId, overlapHours })}
        onSuccess={(rotated) => {
          setSecret(rotated.clientSecret);
          void reread();
        }}
        onClose={onClose}
      />
    );
  return (
    <Confirmation
      title={developerTexts.deleteTitle}
      explanation={developerTexts.deleteExplanation(name)}
      submit={developerTexts.delete}
      call={() => trpc.operator.deleteClient.mutate({ clientId })}
      onSuccess={() => {
        onClose();
        notify(developerTexts.deleted);
        void reread();
      }}
      onError={() => void reread()}
      onClose={onClose}
    />
  );
}
