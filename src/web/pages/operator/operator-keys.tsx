import { Button, Code, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirmation } from '../../components/confirmation.tsx';
import { useDates } from '../../components/dates.ts';
import { useNotice } from '../../components/notices.tsx';
import { Page } from '../../components/page.tsx';
import { Rotation } from '../../components/rotation.tsx';
import { RowButton } from '../../components/row-button.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, trpc, type Outputs } from '../../trpc.ts';
import { CreateOperatorKey } from './create-operator-key.tsx';
import { List } from './list.tsx';
import { OperatorSecretOnce } from './operator-secret-once.tsx';
import { Operators } from './operators.tsx';

const words = areaTexts.operatorKeys;

type Keys = Outputs['operator']['listOperatorKeys']['keys'];

/** The keys of the operator API. */
export const OperatorKeysPage = () => (
  <Operators>
    <OperatorKeys />
  </Operators>
);

function OperatorKeys() {
  const page = useQuery({ ...query('operator.listOperatorKeys'), staleTime: 0 });
  const [creating, setCreating] = useState(false);
  return (
    <Page
      title={words.title}
      explanation={words.explanation}
      action={page.data && <Button onClick={() => setCreating(true)}>{words.create}</Button>}
    >
      <List
        label={words.title}
        page={page}
        items={({ keys }) => keys}
        row={(key) => <OperatorKeyRow key={key.id} operatorKey={key} reread={page.refetch} />}
        empty={{ title: areaTexts.list.emptyTitle, description: words.explanation }}
      />
      {creating && <CreateOperatorKey reread={page.refetch} onClose={() => setCreating(false)} />}
    </Page>
  );
}

type RowProps = { readonly operatorKey: Keys[number]; readonly reread: () => Promise<unknown> };

function OperatorKeyRow({ operatorKey, reread }: RowProps) {
  const notify = useNotice();
  const [dialog, setDialog] = useState<'rotate' | 'revoke'>();
  const [secret, setSecret] = useState<string>();
  const close = () => setDialog(undefined);
  const { id, name, keyPrefix, last4, scopes } = operatorKey;
  return (
    <li className="row">
      <div className="row-text">
        <Text fw={600} className="wrap">
          <bdi>{name}</bdi>
        </Text>
        <Code>{`${keyPrefix}…${last4}`}</Code>
        <Facts operatorKey={operatorKey} />
        <Text size="sm" c="dimmed" className="wrap">
          {scopes.join(' ')}
        </Text>
      </div>
      <Group gap={4}>
        <RowButton onClick={() => setDialog('rotate')} aria-label={words.rotateOf(name)}>
          {words.rotate}
        </RowButton>
        <RowButton color="red" onClick={() => setDialog('revoke')} aria-label={areaTexts.keys.revokeOf(name)}>
          {areaTexts.keys.revoke}
        </RowButton>
      </Group>
      {dialog === 'rotate' && (
        <Rotation
          explanation={words.rotateExplanation(name)}
          call={(overlapHours) => trpc.operator.rotateOperatorKey.mutate({ keyId: id, overlapHours })}
          onSuccess={(rotated) => {
            close();
            setSecret(rotated.secret);
            void reread();
          }}
          onClose={close}
        />
      )}
      {secret !== undefined && (
        <OperatorSecretOnce title={words.rotatedTitle(name)} secret={secret} onClose={() => setSecret(undefined)} />
      )}
      {dialog === 'revoke' && (
        <Confirmation
          title={areaTexts.keys.revokeTitle(name)}
          explanation={areaTexts.keys.revokeExplanation}
          submit={areaTexts.keys.revoke}
          call={() => trpc.operator.revokeOperatorKey.mutate({ keyId: id })}
          onSuccess={() => {
            close();
            notify(areaTexts.keys.revoked);
            void reread();
          }}
          onError={() => void reread()}
          onClose={close}
        />
      )}
    </li>
  );
}

function Facts({ operatorKey: { addresses, createdAt, lastUsedAt, expiresAt } }: Pick<RowProps, 'operatorKey'>) {
  const { day, minute } = useDates();
  const facts = [
    areaTexts.keys.created(day(createdAt)),
    lastUsedAt === null ? areaTexts.keys.unused : areaTexts.keys.used(minute(lastUsedAt)),
    expiresAt && areaTexts.keys.expires(day(expiresAt)),
    addresses.length === 0 ? words.everywhere : words.from(addresses.join(', ')),
  ];
  return (
    <Text size="sm" c="dimmed" className="wrap">
      {facts.filter(Boolean).join(', ')}
    </Text>
  );
}
