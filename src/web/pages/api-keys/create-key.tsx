import { useCreateApiKey } from '#client/react';
import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import type { Scope } from '../../trpc.ts';
import { ExpiryField, isPossible, toDays, type ChosenExpiry } from './expiry-field.tsx';
import { readOnlyScopes, type NewSecret, type TeamId } from './keys.ts';
import { useOfferedPermissions } from './offered-permissions.ts';
import { PermissionsField } from './permissions-field.tsx';
import { ScopesField } from './scopes-field.tsx';
import { SecretOnce } from './secret-once.tsx';
import { useKept } from '../../kept.ts';

type CreateKeyProps = { readonly teamId: TeamId; readonly onClose: () => void };

export function CreateKey({ teamId, onClose }: CreateKeyProps) {
  const [created, setCreated] = useState<NewSecret>();
  return created === undefined ? (
    <CreateDialog teamId={teamId} onCreated={setCreated} onClose={onClose} />
  ) : (
    <SecretOnce title={words.createdTitle(created.key.name)} secret={created.secret} onClose={onClose} />
  );
}

type CreateDialogProps = CreateKeyProps & { readonly onCreated: (created: NewSecret) => void };

function CreateDialog({ teamId, onCreated, onClose }: CreateDialogProps) {
  const [scopes, setScopes] = useKept<readonly Scope[]>('new scopes', readOnlyScopes(teamId ?? null));
  const [permissions, setPermissions] = useKept<readonly string[]>('new permissions', []);
  const offered = useOfferedPermissions(teamId ?? null);
  const [expiry, setExpiry] = useKept<ChosenExpiry>('new expiry', { choice: '90', day: '' });
  const createKey = useCreateApiKey(teamId ?? null);
  const form = useCallForm({
    isNew: true,
    initialValues: { name: '' },
    call: ({ name }) =>
      createKey.mutateAsync({
        name,
        scopes: [...scopes],
        permissions: [...permissions],
        expiresInDays: toDays(expiry),
      }),
    onSuccess: onCreated,
  });
  return (
    <FormDialog
      title={teamId === undefined ? words.createTitle : words.createTeamTitle}
      form={form}
      submit={words.submit}
      isIncomplete={scopes.length + permissions.length === 0 || !isPossible(expiry)}
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
      <ExpiryField chosen={expiry} onChange={setExpiry} />
      <ScopesField
        teamId={teamId}
        ticked={scopes}
        onChange={setScopes}
        noScopes={
          offered.length === 0
            ? words.noScopes
            : permissions.length === 0
              ? words.noScopesOrPermissions
              : words.onlyProduct
        }
      />
      {offered.length > 0 && (
        <PermissionsField
          offered={offered}
          isOfTeam={teamId !== undefined}
          ticked={permissions}
          onChange={setPermissions}
        />
      )}
    </FormDialog>
  );
}
