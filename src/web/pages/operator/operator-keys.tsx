import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirmation } from '../../components/confirmation.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Page } from '../../components/page.tsx';
import { Rotation } from '../../components/rotation.tsx';
import { useRowDialogs } from '../../components/table/row-dialogs.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, trpc } from '../../trpc.ts';
import { CreateOperatorKey } from './create-operator-key.tsx';
import { ListTable } from './list.tsx';
import {
  operatorKeyBulk,
  operatorKeyColumns,
  OperatorKeyMenu,
  type KeyDialog,
  type OperatorKey,
} from './operator-key-columns.tsx';
import { OperatorSecretOnce } from './operator-secret-once.tsx';
import { Operators } from './operators.tsx';
import { useKept } from '../../kept.ts';

const words = areaTexts.operatorKeys;

const rowId = ({ id }: OperatorKey): string => id;
const rowName = ({ name }: OperatorKey): string => name;

/** The keys of the operator API. */
export const OperatorKeysPage = () => (
  <Operators>
    <OperatorKeys />
  </Operators>
);

function OperatorKeys() {
  const page = useQuery({ ...query('operator.listOperatorKeys'), staleTime: 0 });
  const [creating, setCreating] = useKept('creating', false);
  const { asked, ask, close } = useRowDialogs<OperatorKey, KeyDialog>(rowId);
  return (
    <Page
      isWide
      title={words.title}
      explanation={words.explanation}
      action={page.data && <Button onClick={() => setCreating(true)}>{words.create}</Button>}
    >
      <ListTable
        label={words.title}
        page={page}
        items={({ keys }) => keys}
        columns={operatorKeyColumns}
        rowId={rowId}
        rowName={rowName}
        bulk={operatorKeyBulk}
        actions={(key) => <OperatorKeyMenu operatorKey={key} onAction={ask} />}
        empty={{ title: areaTexts.list.emptyTitle, description: words.explanation }}
        cursor={undefined}
        next={null}
      />
      {creating && <CreateOperatorKey reread={page.refetch} onClose={() => setCreating(false)} />}
      {asked && <KeyDialogs kind={asked.kind} of={asked.row} reread={page.refetch} onClose={close} />}
    </Page>
  );
}

type KeyDialogsProps = {
  readonly kind: KeyDialog;
  readonly of: OperatorKey;
  readonly reread: () => Promise<unknown>;
  readonly onClose: () => void;
};

/** Rotates or revokes a key. The new secret is shown once. */
function KeyDialogs({ kind, of: { id, name }, reread, onClose }: KeyDialogsProps) {
  const notify = useNotice();
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined)
    return <OperatorSecretOnce title={words.rotatedTitle(name)} secret={secret} onClose={onClose} />;
  if (kind === 'rotate')
    return (
      <Rotation
        explanation={words.rotateExplanation(name)}
        call={(overlapHours) => trpc.operator.rotateOperatorKey.mutate({ keyId: id, overlapHours })}
        onSuccess={(rotated) => {
          setSecret(rotated.secret);
          void reread();
        }}
        onClose={onClose}
      />
    );
  return (
    <Confirmation
      title={areaTexts.keys.revokeTitle(name)}
      explanation={areaTexts.keys.revokeExplanation}
      submit={areaTexts.keys.revoke}
      call={() => trpc.operator.revokeOperatorKey.mutate({ keyId: id })}
      onSuccess={() => {
        onClose();
        notify(areaTexts.keys.revoked);
        void reread();
      }}
      onError={() => void reread()}
      onClose={onClose}
    />
  );
}
