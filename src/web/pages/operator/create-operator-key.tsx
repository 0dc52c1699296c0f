import { Checkbox, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { texts } from '../../messages/console.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { operatorScopeTexts } from '../../messages/operator-scopes.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { OperatorSecretOnce } from './operator-secret-once.tsx';
import { useKept } from '../../kept.ts';

const words = areaTexts.operatorKeys;

type Scope = keyof typeof operatorScopeTexts;
const SCOPES = Object.keys(operatorScopeTexts) as Scope[];
type Created = Outputs['operator']['createOperatorKey'];
type CreateProps = { readonly reread: () => Promise<unknown>; readonly onClose: () => void };

/** Creates an operator key and shows its secret once. */
export function CreateOperatorKey({ reread, onClose }: CreateProps) {
  const [created, setCreated] = useState<Created>();
  if (created !== undefined)
    return (
      <OperatorSecretOnce title={words.createdTitle(created.key.name)} secret={created.secret} onClose={onClose} />
    );
  return (
    <CreateDialog
      onCreated={(output) => {
        setCreated(output);
        void reread();
      }}
      onClose={onClose}
    />
  );
}

type DialogProps = { readonly onCreated: (created: Created) => void; readonly onClose: () => void };

function CreateDialog({ onCreated, onClose }: DialogProps) {
  const [scopes, setScopes] = useKept<readonly Scope[]>('new scopes', []);
  const form = useCallForm({
    isNew: true,
    initialValues: { name: '', addresses: '', expiry: 'never' },
    lists: ['addresses'],
    call: ({ name, addresses, expiry }) =>
      trpc.operator.createOperatorKey.mutate({
        name,
        scopes: [...scopes],
        addresses: addresses
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== ''),
        ...(expiry !== 'never' && { expiresInDays: Number(expiry) }),
      }),
    onSuccess: onCreated,
  });
  return (
    <FormDialog
      title={words.create}
      form={form}
      submit={words.create}
      isIncomplete={scopes.length === 0}
      onClose={onClose}
    >
      <TextInput
        {...form.field('name')}
        label={words.name}
        description={words.nameHint}
        autoComplete="off"
        required
        data-autofocus
      />
      <Checkbox.Group
        label={words.scopes}
        value={[...scopes]}
        onChange={(next) => setScopes(SCOPES.filter((scope) => next.includes(scope)))}
      >
        <Stack gap="sm" mt="sm">
          {SCOPES.map((scope) => (
            <Checkbox key={scope} value={scope} label={scope} description={operatorScopeTexts[scope]} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Text size="sm" c="dimmed" role="status">
        {scopes.length === 0 && words.noScopes}
      </Text>
      <Textarea
        {...form.field('addresses')}
        label={texts.optional(words.addresses)}
        description={words.addressesHint}
        autoComplete="off"
        spellCheck={false}
        rows={2}
      />
      <NativeSelect
        {...form.field('expiry')}
        label={words.expiry}
        // Numbers would come first.
        data={['never', '30', '90', '365'].map((value) => ({
          value,
          label: words.expiries[value as keyof typeof words.expiries], // its keys
        }))}
      />
    </FormDialog>
  );
}
