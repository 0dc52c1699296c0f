import { useRevokeApiKey } from '#client/react';
import { Confirmation } from '../../components/confirmation.tsx';
import { useDates } from '../../components/dates.ts';
import { useNotice } from '../../components/notices.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { ChangePermissions } from './change-permissions.tsx';
import { ChangeScopes } from './change-scopes.tsx';
import type { KeyAction } from './key-menu.tsx';
import { KeyUsage } from './key-usage.tsx';
import { getCreatorName, type Key } from './keys.ts';
import { RenameKey } from './rename-key.tsx';
import { RotateKey } from './rotate-key.tsx';

type DialogProps = { readonly apiKey: Key; readonly onClose: () => void };

/** The dialog that an action on a key opens. */
export function KeyDialog({ action, ...dialog }: DialogProps & { readonly action: KeyAction }) {
  if (action === 'usage') return <KeyUsage {...dialog} />;
  if (action === 'rename') return <RenameKey {...dialog} />;
  if (action === 'scopes') return <ChangeScopes {...dialog} />;
  if (action === 'permissions') return <ChangePermissions {...dialog} />;
  if (action === 'rotate') return <RotateKey {...dialog} />;
  return <Revocation {...dialog} />;
}

function Revocation({ apiKey, onClose }: DialogProps) {
  const { id, teamId, name, isOwn, lastUsedAt } = apiKey;
  const { minute } = useDates();
  const revoke = useRevokeApiKey(teamId);
  const notify = useNotice();
  const use = lastUsedAt === null ? words.unused : words.used(minute(lastUsedAt));
  const explanation = words.revokeExplanation({ key: name, use });
  return (
    <Confirmation
      title={words.revokeTitle}
      explanation={isOwn ? explanation : `${words.revokeForeign(getCreatorName(apiKey))} ${explanation}`}
      submit={words.revoke}
      call={() => revoke.mutateAsync({ keyId: id })}
      onSuccess={() => {
        onClose();
        notify(words.revoked);
      }}
      onClose={onClose}
    />
  );
}
